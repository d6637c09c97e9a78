// SPDX-License-Identifier: Apache-2.0
#include "logs/languages.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "logs/log_reader.hpp"
#include "tests/logs/logs_testing.hpp"

/// Tables in other languages are read as their English words would be.
namespace foredraft::tests {
namespace {

using logs::Decoding;

std::string english(std::string_view text) {
  std::string lines;
  logs::append_in_english(text, lines);
  return lines;
}

}  // namespace

TEST_CASE("words of arms, loads and metrics become English, and are apart from others") {
  for (const auto& [words, plain] :
       {std::pair("| 基线 tok/s |", "| baseline tok/s |"),
        {"| 不开投机 | 开启 MTP（K=3） |", "| no speculation | with MTP (K=3)  |"},
        {"| 平均接受长度 | 加速比 |", "| acceptance length | speedup |"},
        {"| 最新基线 |", "| 最新 baseline |"},
        {"8 并发: 40 tok/s", "concurrency 8: 40 tok/s"},
        {"| 基准测试 | 无思考 | 无 |", "| benchmark | 无思考 | off |"},
        {"| 指標 | MTP なし | MTP 有効 |", "| metric | MTP off | MTP on |"},
        {"| 生成 tokens/sec | 1.5 倍 |", "| decode tokens/sec | 1.5x |"},
        {"| 지표 | 추측 디코딩 끔 | MTP 사용 |", "| metric | speculation off | MTP on |"},
        {"| ohne Spekulation | mit MTP |", "| no speculation | with MTP |"},
        {"| sans MTP | débit |", "| no MTP | throughput |"},
        {"| Sin especulación | Con EAGLE3 |", "| no speculation | with EAGLE3 |"},
        {"| con especulacion | Aceptacion | Ganancia |", "| with speculation | acceptance | gain |"},
        {"| без MTP | с MTP | ток/с |", "| no MTP | with MTP | tok/s |"},
        {"Ohne Entwurf: 20 tok/s", "no speculation: 20 tok/s"},
        {"  mit Entwurf K=2: 30 tok/s", "  with speculation K=2: 30 tok/s"},
        {"speculative decoding开启后无收益", "after enabling speculative decoding 无 gain"},
        {"开启 MTP 后", "after enabling MTP"},
        {"没开投机采样：", "no speculation: "},
        {"未启用 EAGLE3 后", "no EAGLE3 后"},
        {"关掉 n-gram：", "no n-gram: "},
        {"不加 MTP (8 卡):", "no MTP (8 卡):"},
        {"打开 ngram (K=6):", "with ngram (K=6):"},
        {"| 加上 MTP | MTP 没开 | 推测解码关掉 |", "| with MTP | MTP off | speculation off |"}})
    CHECK(english(words) == plain);
}

TEST_CASE("English lines, JSON values and long lines stay as they are") {
  const std::string same = "| Speculation | Scenario | method | Basis points |\nsin and con\n{\"text\": \"基线\"}\n" +
                           std::string(3000, 'a') + "基线\n";
  CHECK(english(same + "基线\n") == same + "baseline\n");
}

TEST_CASE("a table in another language is read, in whatever pieces it comes") {
  for (const std::string table :
       {"| 方案 | 解码速度 (tok/s) | 接受率 |\n|---|---|---|\n| 无投机 | 40 | — |\n| MTP（K=3） | 72 | 80% |\n",
        "| 構成 | 生成速度 (トークン/秒) | 受理率 |\n|---|---|---|\n| ベースライン | 40 | - |\n"
        "| MTP あり (K=3) | 72 | 80% |\n",
        "| 구성 | 출력 속도 (tok/s) | 수락률 |\n|---|---|---|\n| MTP 없음 | 40 | - |\n| MTP 사용 (K=3) | 72 | 80% |\n",
        "| Modus | Durchsatz (Token/s) | Akzeptanz |\n|---|---|---|\n| ohne MTP | 40 | - |\n"
        "| mit MTP, K=3 | 72 | 80 % |\n",
        "| Configuración | Velocidad (tok/s) | Tasa de aceptación |\n|---|---|---|\n| Línea base | 40 | - |\n"
        "| Con MTP (K=3) | 72 | 80% |\n",
        "| Режим | Скорость, ток/с | Доля принятых |\n|---|---|---|\n| без MTP | 40 | - |\n"
        "| с MTP (K=3) | 72 | 80% |\n"}) {
    CAPTURE(table);
    logs::LogReader reader("log");
    reader.add(std::string(70'000, 'w') + "\n\n");  // more than shows how a text is wrapped
    for (const char byte : table) reader.add(std::string_view(&byte, 1));
    const auto runs = reader.finish().observations;
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].decoding == Decoding::plain);
    CHECK(runs[0].times.tpot_ms == near(25.0));
    CHECK(runs[1].gamma == 3);
    CHECK(runs[1].drafter == "mtp");
    CHECK(runs[1].acceptance_length == near(3.4));
  }
}

TEST_CASE("draft tokens and tokens per step in German and French") {
  for (const std::string head :
       {"Entwurfstoken | Token/s | Token pro Schritt", "Anzahl Entwurfs-Tokens | Tokens/s | Tokens je Runde",
        "longueur du draft | jetons/s | jetons par \xC3\xA9tape"}) {
    CAPTURE(head);
    const auto runs = posted_runs("| " + head + " |\n|---|---|---|\n| ohne | 20,0 | |\n| 2 | 30,5 | 2,20 |\n", "table");
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].gamma == 2);
    CHECK(runs[1].acceptance_length == 2.2);
  }
  // Of columns apart by blanks.
  const auto apart =
      posted_runs("  Entwurfstoken   Token/s   Token pro Schritt\n  2               30,5      2,20\n", "table");
  REQUIRE(apart.size() == 1);
  CHECK(apart[0].gamma == 2);
}

TEST_CASE("a load, an acceptance and an arm alone in a cell in other languages") {
  for (const std::string head :
       {"Lauf;K;gleichzeitig;tok/s;Akzeptanz\nohne", "Verfahren;K;gleichzeitige Anfragen;Token/s;Akzeptanzlänge\nohne",
        "méthode;K;requêtes;jetons/s;acceptation\nsans", "essai;K;utilisateurs simultanés;jetons/s;acceptation\nsans",
        "método;K;usuarios;tok/s;longitud de aceptación\nsin", "método;K;solicitudes;tok/s;aceptación\nsin",
        "método;K;usuários simultâneos;tok/s;aceitação\nsem", "metodo;K;richieste parallele;tok/s;accettazione\nsenza",
        "方法;K;用户数;tok/s;接受长度\n基线", "方法;K;并发;tok/s;接受长度\n基线"}) {
    CAPTURE(head);
    const std::string table = head + ";;6;22.5;\neagle3;3;6;36;2.2\n";
    const auto is_read = [](const std::vector<logs::Observation>& runs) {
      REQUIRE(runs.size() == 2);
      CHECK(runs[0].decoding == Decoding::plain);
      CHECK(runs[1].concurrency == 6.0);
      CHECK(runs[1].acceptance_length == 2.2);
      CHECK(runs[1].drafter == "eagle3");
    };
    is_read(posted_runs(table, "table"));
    std::string commas = table;
    std::ranges::replace(commas, ';', ',');
    is_read(posted_runs(commas, "table"));
  }
  CHECK(english("| Lauf zwei | Lauf |\n") == "| Lauf zwei | run |\n");
  CHECK(english("sin;40;41\n") == "without;40;41\n");
  CHECK(english("| 4 utilisateurs simultanés |\n") == "| 4 concurrent requests |\n");
}

TEST_CASE("drafted and accepted tokens in German headings") {
  const auto runs = posted_runs("Prompt;Tokens;Token/s;Entwurf;Angenommen\nCode;400;52,6;368;299\n", "table");
  REQUIRE(runs.size() == 1);
  REQUIRE(runs[0].acceptance);
  CHECK(runs[0].acceptance->drafted_tokens == 368);
  CHECK(runs[0].acceptance->accepted_tokens == 299);
}

TEST_CASE("captions in Chinese lead tables below commands and lines of a logger without a message") {
  const auto table = [](const char* speed, const char* ms) {
    return std::string("2026-05-02 09:10:11 - evalscope - INFO: \nBenchmarking summary:\n") +
           "+-----+-----+\n| Key | Value |\n+=====+=====+\n| Number of concurrency | 4 |\n+-----+-----+\n" +
           "| Output token throughput (tok/s) | " + speed + " |\n+-----+-----+\n" +
           "| Average time per output token (s) | " + ms + " |\n+-----+-----+\n\n";
  };
  const std::string command = "evalscope perf --parallel 4 --number 40 --model large --api openai\n";
  for (const auto& [plain, drafted] : {std::pair("关闭投机：", "开启 EAGLE（K = 3）："),
                                       {"没开投机:", "打开 EAGLE (K = 3):"},
                                       {"基线：", "使用 EAGLE，K = 3："},
                                       {"Without EAGLE:", "With EAGLE, K = 3:"}}) {
    for (const std::string& below : {command, "$ " + command, std::string()}) {
      const auto runs = posted_runs(std::string(plain) + "\n" + below + table("160.0", "0.0250") + drafted + "\n" +
                                        below + table("320.0", "0.0125"),
                                    "evalscope-console");
      REQUIRE(runs.size() == 2);
      CHECK(runs[0].decoding == Decoding::plain);
      CHECK(runs[0].times.tpot_ms == near(25.0));
      CHECK(runs[1].decoding == Decoding::speculative);
      CHECK(runs[1].gamma == 3);
      CHECK(runs[1].drafter == "eagle");
    }
  }
  // What leads a table does not lead the next one below a gap.
  const auto apart = posted_runs("With EAGLE, K = 3:\n" + command + table("320.0", "0.0125") + command +
                                     "on another day\n" + table("160.0", "0.0250"),
                                 "evalscope-console");
  REQUIRE(apart.size() == 2);
  CHECK(apart[1].decoding == Decoding::unknown);
  const std::string rows = "| concurrency | tok/s per request |\n|---|---|\n| 2 | ";
  const auto tables = posted_runs("With MTP, K=3:\n" + rows + "90 |\n\n" + rows + "60 |\n", "table");
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].decoding == Decoding::speculative);
  CHECK(tables[1].decoding == Decoding::unknown);
}

}  // namespace foredraft::tests
