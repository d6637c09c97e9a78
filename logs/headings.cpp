// SPDX-License-Identifier: Apache-2.0
#include "logs/headings.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/numbers.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

/// Headings in lower case, words separated by blanks, without a unit in brackets and without "mean" or "avg"; those of
/// a line mean the same.
struct Headings {
  Meaning meaning;
  std::string_view words;     ///< printed back
  std::string_view headings;  ///< separated by commas
};

constexpr std::array<Headings, 27> headings_of_meanings{{
    {Meaning::gamma, "draft length K",
     "k,gamma,n,draft,draft len,draft length,draft tokens,num draft tokens,n draft,draft n,draft max,draft n max,n max,"
     "spec draft n max,num spec tokens,num speculative tokens,spec tokens,speculative tokens,spec n,n spec,"
     "tokens drafted per step,draft depth,speculative num steps,mtp tokens,mtp n,mtp k,nextn,lookahead"},
    {Meaning::name, "name of the run",
     "config,configuration,mode,method,run,setup,drafter,name,variant,spec,speculative,speculation,spec decode,"
     "spec decoding,strategy,decoding,arm,setting,settings,stage,algorithm,draft model,drafting,test case,case"},
    {Meaning::concurrency, "concurrent requests",
     "c,bs,b,conc,concurrency,max concurrency,users,batch,batch size,batchsize,clients,streams,parallel,np,"
     "concurrent requests,requests,running,running requests,num users,batch sz"},
    {Meaning::category, "kind of prompts", "task,category,dataset,data set,prompt,workload,prompts,subset,domain"},
    {Meaning::prompt_tokens, "prompt tokens",
     "isl,input len,input tokens,prompt tokens,prompt len,input length,prompt length"},
    {Meaning::output_tokens, "output tokens",
     "osl,output len,output tokens,tokens,generated tokens,output length,gen tokens,generated,n predict"},
    {Meaning::context_tokens, "tokens of context",
     "ctx,context,context tokens,context length,ctx len,context len,n kv,depth"},
    {Meaning::temperature, "temperature", "temperature,temp"},
    {Meaning::benchy_test, "test of llama-benchy", "test"},
    {Meaning::total_speed, "output tokens/s of all requests together",
     "output throughput,output token throughput,total tok/s,total t/s,total tokens/s,aggregate tok/s,aggregate t/s,"
     "total throughput,system throughput,output tokens per s,aggregate throughput,agg tok/s,system tok/s,throughput "
     "total,"
     "generation throughput,agg t/s,total tps,aggregate tps,output tok/s total"},
    {Meaning::request_speed, "output tokens/s of one request",
     "tok/s/user,t/s/user,tps/user,tokens/s/user,per user tok/s,per request tok/s,tok/s per user,tok/s per request,"
     "user throughput,output token throughput per user,single stream tok/s,per stream tok/s,tok/s/req,interactivity,"
     "tps per user,t/s per user,per user tps,tok/s/stream"},
    {Meaning::speed, "output tokens/s",
     "tok/s,t/s,tps,tokens/s,tokens per second,tokens/sec,tok/sec,token/s,toks/s,output tok/s,output t/s,output "
     "tokens/s,"
     "decode tok/s,decode t/s,decode tps,gen tok/s,gen t/s,gen tps,generation t/s,generation tok/s,tg t/s,eval t/s,"
     "throughput,speed,decode speed,generation speed,tg,output tps,tok per s,tok per sec,tokens per sec,eval tok/s,"
     "decode throughput,gen speed,gen toks/s,output toks/s,token throughput"},
    {Meaning::tpot, "time per output token",
     "tpot,ms/token,ms/tok,ms per token,ms per tok,time per output token,time per token,s/token,latency per token,"
     "per token latency"},
    {Meaning::inter_token, "time between tokens", "itl,inter token latency,intertoken latency"},
    {Meaning::iteration, "time of an iteration",
     "iteration,step time,iteration time,ms/step,ms/iter,ms/iteration,ms per step,ms per iteration,cycle time,iter "
     "time,"
     "step,step latency"},
    {Meaning::ttft, "time to first token", "ttft,time to first token,ttfr,e2e ttft"},
    {Meaning::duration, "duration", "duration,wall,wall time,elapsed,time,total time,benchmark duration"},
    {Meaning::length, "tokens per iteration, with the bonus token",
     "al,tau,accept len,accept length,acceptance len,acceptance length,acc len,acc length,a len,accepted length,"
     "accepted len,tokens/step,tok/step,tokens per step,tokens/iter,tok/iter,tokens per iteration,tokens/iteration,"
     "tokens per iter,block efficiency,decoded tokens per iter,emitted/round,tokens/round,tokens per round,"
     "tokens per forward,tokens/pass"},
    {Meaning::accepted_per_step, "accepted drafts per iteration",
     "accepted/step,accepted per step,accepted/round,accepted per round,accepted drafts per step,accept/draft,"
     "accepted tokens per draft,accepted tokens/draft,accepted per draft"},
    {Meaning::mean_accepted, "accepted tokens per iteration",
     "accepted tokens mean,mean accepted,mean accepted tokens,avg accepted,avg accepted tokens,average accepted,"
     "average accepted tokens,mean accept,avg accept"},
    {Meaning::rate, "acceptance rate (accepted / drafted)",
     "acc,accept,acceptance,acceptance rate,accept rate,acc rate,draft acceptance,draft acceptance rate,accept %,acc %,"
     "acceptance %,alpha,rate,token accept,token acceptance,token acceptance rate,accept ratio,acceptance ratio,"
     "accepted %,hit rate,acpt,accepted rate"},
    {Meaning::steps, "verification steps",
     "steps,rounds,drafts,num drafts,iterations,verification steps,verify steps,speculative rounds,iters,spec rounds"},
    {Meaning::drafted, "drafted tokens in all",
     "drafted,drafted tokens,proposed,proposed drafts,proposed tokens,total draft,total drafted,tokens drafted"},
    {Meaning::accepted, "accepted tokens in all",
     "accepted,accepted tokens,accepted drafts,num accepted tokens,total accepted,tokens accepted,accepted/drafted"},
    {Meaning::positions, "acceptance by position",
     "pos accept,per position,per pos,positions,per position acceptance,per position acceptance rate,per pos accept,"
     "acceptance per position,position acceptance,pos acceptance,by position"},
    {Meaning::position, "share of steps that accept a position", ""},
    {Meaning::ignored, "not read", ""},
}};

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string lower(std::string_view text) {
  std::string small;
  for (const char c : text) small += lower(c);
  return small;
}

/// Of a heading in lower case.
bool is_heading_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '%' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// HeadingWords of a heading, and what stands in brackets behind them.
struct HeadingWords {
  std::string words = {}, unit = {};
};

HeadingWords split_heading(std::string_view heading) {
  HeadingWords both;
  int depth = 0;
  for (const char c : lower(heading)) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    std::string& into = depth > 0 || c == ')' || c == ']' ? both.unit : both.words;
    if (is_heading_letter(c)) {
      into += c;
    } else if (!into.empty() && into.back() != ' ') {
      into += ' ';
    }
  }
  both.words = trimmed(both.words);
  both.unit = trimmed(both.unit);
  return both;
}

/// Every heading with its meaning, the first of several that are equal.
std::unordered_map<std::string_view, Meaning> meanings_by_heading() {
  std::unordered_map<std::string_view, Meaning> meanings;
  for (const Headings& one : headings_of_meanings) {
    std::string_view list = one.headings;
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      meanings.emplace(list.substr(0, end), one.meaning);
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }
  return meanings;
}

Meaning meaning_of(std::string_view words) {
  static const std::unordered_map<std::string_view, Meaning> meanings = meanings_by_heading();
  const auto found = meanings.find(words);
  return found == meanings.end() ? Meaning::ignored : found->second;
}

/// Whether a heading may mean something by its first word: a cheap test for the words of a text.
bool may_be_heading(std::string_view heading) {
  static const std::unordered_set<std::string> first_words = [] {
    std::unordered_set<std::string> words{"mean", "avg", "average", "median", "p50", "wtd"};
    for (const auto& [known, meaning] : meanings_by_heading()) {
      words.emplace(known.substr(0, std::min(known.find(' '), known.size())));
    }
    return words;
  }();
  std::string word;
  for (const char c : heading) {
    if (c == '(' || c == '[' || c == ')' || c == ']') return true;
    if (is_heading_letter(lower(c))) {
      word += lower(c);
    } else if (!word.empty()) {
      break;
    }
  }
  // "p 3", "pos1", "acc_at_2"
  return word.starts_with('p') || word.starts_with("acc") || first_words.contains(word);
}

bool take_suffix(std::string& words, std::string_view suffix) {
  if (!words.ends_with(suffix) || words.size() == suffix.size()) return false;
  words.resize(words.size() - suffix.size());
  words = std::string(trimmed(words));
  return true;
}

bool is_time(Meaning meaning) {
  return meaning == Meaning::tpot || meaning == Meaning::inter_token || meaning == Meaning::iteration ||
         meaning == Meaning::ttft || meaning == Meaning::duration;
}

double ms_of_unit(std::string_view unit) {
  if (unit == "ms") return 1.0;
  return unit == "s" || unit == "sec" || unit == "seconds" ? 1000.0 : 0.0;
}

std::optional<int> position_of(const std::string& words) {
  static const RE2 pattern(
      R"((?:pos|position|p|acc(?:ept(?:ance|ed)?)?(?: rate)?(?: at)?(?: pos(?:ition)?)?) ?(\d{1,2}))");
  int at = 0;
  return RE2::FullMatch(words, pattern, &at) && at <= 32 ? std::optional(at) : std::nullopt;
}

/// Speeds whose brackets say of what they are: "t/s (req)", "tok/s (total)", "throughput (tok/s)".
Meaning speed_of(Meaning meaning, std::string_view unit) {
  if (meaning != Meaning::speed && meaning != Meaning::total_speed) return meaning;
  static const RE2 each(R"(.*\b(?:req|request|user|stream|single).*)");
  static const RE2 all(R"(.*\b(?:total|all|agg|aggregate|system)\b.*)");
  static const RE2 other(R"(.*(?:req/s|rps|gpu|prompt|input|prefill|pp).*)");
  const re2::StringPiece text(unit.data(), unit.size());
  if (RE2::FullMatch(text, other)) return Meaning::ignored;
  if (RE2::FullMatch(text, each)) return Meaning::request_speed;
  return RE2::FullMatch(text, all) ? Meaning::total_speed : meaning;
}

}  // namespace

Column column_of(std::string_view heading) {
  Column column{.heading = std::string(trimmed(heading))};
  if (!may_be_heading(heading)) return column;
  HeadingWords both = split_heading(heading);
  std::string& words = both.words;
  column.percent = both.unit == "%" || words.find('%') != std::string::npos;
  column.meaning = meaning_of(words);
  for (const std::string_view mean : {"mean ", "avg ", "average ", "median ", "p50 ", "wtd "}) {
    if (column.meaning == Meaning::ignored && words.starts_with(mean)) words.erase(0, mean.size());
  }
  if (column.meaning == Meaning::ignored) column.meaning = meaning_of(words);
  if (column.meaning == Meaning::ignored) {
    for (const std::string_view unit : {" ms", " s", " sec", " %", " pct", " tok/s", " t/s", " tps"}) {
      if (!take_suffix(words, unit)) continue;
      if (both.unit.empty()) both.unit = trimmed(unit);
      column.meaning = meaning_of(words);
      if (unit.find('t') != std::string_view::npos && unit != " pct" && column.meaning != Meaning::speed)
        column.meaning = column.meaning == Meaning::total_speed ? Meaning::total_speed : Meaning::ignored;
      column.percent = column.percent || unit == " %" || unit == " pct";
      break;
    }
  }
  if (column.meaning == Meaning::ignored) {
    column.position = position_of(words);
    if (column.position) column.meaning = Meaning::position;
  }
  column.meaning = speed_of(column.meaning, both.unit);
  if (is_time(column.meaning)) {
    column.unit = ms_of_unit(both.unit);
    if (words.starts_with("ms")) column.unit = 1.0;
    if (words.starts_with("s/") || words == "s") column.unit = 1000.0;
    if (column.meaning == Meaning::duration && column.unit == 0.0) column.unit = 1000.0;
  }
  column.may_be_count = column.meaning == Meaning::gamma &&
                        (words == "n" || words == "draft" || words == "draft tokens" || words == "num draft tokens");
  return column;
}

std::string_view words_of(Meaning meaning) {
  const auto* const found = std::ranges::find(headings_of_meanings, meaning, &Headings::meaning);
  return found == headings_of_meanings.end() ? "not read" : found->words;
}

Arm arm_named(std::string_view name) {
  static const RE2 plain(
      R"((?i)\W*(?:plain|base(?:line)?|off|none|no|false|0|no[- _]?(?:spec\w*|mtp|draft\w*|eagle\w*|sd)|without\b.*|w/o\b.*)"
      R"(|vanilla|autoregressive|ar|target(?:[- _]only)?|non[- _]?spec\w*|disabled|normal|standard)(?:\W.*)?)");
  static const std::array<RE2, 3> lengths{
      RE2(R"((?i)(?:^|[^a-z])(?:k|n|gamma|n[-_ ]?max|draft(?:[-_ ]?n)?(?:[-_ ]?max)?|num[-_ ]?(?:spec\w*|draft)[-_ ]?tokens)"
          R"(|spec(?:ulative)?[-_ ]?tokens|depth|steps)[ ]?[=: -]?[ ]?(\d{1,3})(?:\D|$))"),
      RE2(R"((?i)(?:^|\D)(\d{1,3})[- ]?(?:draft |spec(?:ulative)? )?tok(?:en)?s?(?:\W|$))"),
      RE2(R"((?i)(?:mtp|dflash|nextn|spec|eagle-?[23]|medusa|n-?gram)[-_ ]?[@:(x ]?[ ]?(\d{1,2})(?:\D|$))")};
  Arm arm;
  const std::string text(trimmed(name));
  if (text.empty()) return arm;
  arm.plain = RE2::FullMatch(text, plain);
  if (arm.plain) return arm;
  for (const RE2& length : lengths) {
    int tokens = 0;
    if (!RE2::PartialMatch(text, length, &tokens)) continue;
    arm.gamma = tokens;
    arm.plain = tokens == 0;
    break;
  }
  static const RE2 only_words(R"((?i)([a-z]+(?:-?[23])?).*)");
  std::string word;
  static const RE2 says_nothing(R"((?i)(?:k|n|gamma|on|yes|true|with|spec\w*|sd|draft\w*|tokens?|depth|steps|num)?)");
  if (RE2::FullMatch(text, only_words, &word) && !RE2::FullMatch(word, says_nothing)) arm.drafter = lower(word);
  static const RE2 says_that_it_drafts(R"((?i)(?:on|yes|true|with|spec\w*|sd|draft\w*|enabled))");
  arm.speculative = RE2::FullMatch(word, says_that_it_drafts);
  return arm;
}

}  // namespace foredraft::logs
