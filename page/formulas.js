// SPDX-License-Identifier: Apache-2.0
// The name, formula and source of each number of an answer, as in docs/model.md.

/** @typedef {{label: string, formula: string, source: string, unit?: string}} Formula */

/** For closed-form answers; n is the maximum number of tokens of an iteration. @type {Object<string, Formula>} */
export const FORMULAS = {
  speedup: { label: "Speedup", unit: "×", formula: "tokens per iteration / (1 + γ c)",
    source: "Leviathan 2023, Thm. 3.8" },
  tokens_per_iteration: { label: "Tokens per iteration", formula: "τ = (1 − αⁿ) / (1 − α)",
    source: "Leviathan 2023, Eq. 1" },
  standard_deviation: { label: "Standard deviation of the tokens", formula: "√[α − (2n−1)(1−α)αⁿ − α²ⁿ] / (1−α)",
    source: "own derivation, D1" },
  operations_factor: { label: "Operations", unit: "×", formula: "(γ ĉ + n) / τ", source: "Leviathan 2023, Thm. 3.11" },
  memory_access_factor: { label: "Target memory accesses", unit: "×", formula: "1 / τ",
    source: "Leviathan 2023, Sec. 3.4" },
  best_gamma: { label: "Best draft length γ", formula: "first γ of the largest speedup",
    source: "Leviathan 2023, Sec. 3.5; D5" },
  real_gamma: { label: "Best γ as a real number", formula: "maximum of the speedup over real γ",
    source: "own derivation, D6" },
  oracle_speedup: { label: "Speedup of an oracle that drafts only what is accepted", unit: "×",
    formula: "1 / (1 − α (1 − c))", source: "own derivation, D7" },
};

/** Formulas that differ from those of i.i.d. acceptance. @type {Object<string, Object<string, Partial<Formula>>>} */
export const BY_PROCESS = {
  positional: {
    tokens_per_iteration: { formula: "τ = 1 + Σ mᵢ, mᵢ = a₁ ⋯ aᵢ", source: "Li 2024, Sec. 4" },
    standard_deviation: { formula: "about τ, of P(X = k) = mₖ₋₁ − mₖ", source: "own derivation" },
    best_gamma: { formula: "first γ of the largest speedup, at most the positions given",
      source: "own derivation, D8" },
  },
  runs: {
    tokens_per_iteration: { formula: "stationary mean of a chain of easy and hard runs",
      source: "own derivation, docs/model.md" },
    best_gamma: { formula: "first γ of the largest speedup", source: "own derivation" },
  },
};

/** Formulas for iteration costs other than 1 + gamma c. */
export const COST_FORMULAS = {
  growth: { formula: "τ / (1 + γ c + G (n − 1))", source: "docs/model.md, verify_growth" },
  times: { formula: "τ t / (γ t_d + t_v + t_o)", source: "Xia 2023, Eq. 4" },
};
