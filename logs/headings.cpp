// SPDX-License-Identifier: Apache-2.0
#include "logs/headings.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/expectations.hpp"
#include "logs/line_fields.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// Headings with the same meaning, by their plain words (plain_words below).
struct Headings {
  Meaning meaning;
  std::string_view words;     ///< words_of(meaning)
  std::string_view headings;  ///< separated by commas
};

constexpr std::array<Headings, 32> headings_of_meanings{{
    {Meaning::gamma, "draft length K",
     "k,gamma,n,draft,draft len,draft tok,num draft tok,n draft,draft n,draft max,draft n max,n max,spec draft n max,"
     "spec draft max,num spec tok,spec tok,spec n,n spec,spec k,draft k,spec len,tok drafted/step,drafted/step,"
     "draft depth,spec depth,spec num steps,mtp tok,mtp draft tok,mtp n,mtp k,mtp depth,nextn,lookahead,"
     "nspec,nst,num steps,spec steps,draft steps,window,draft window,spec window,proposal len,max draft,draft budget,"
     "drafted tok/step,draft tok/step,drafts/step,num spec,spec num tok,best k,optimal k,k draft,max draft tok,eagle "
     "steps"},
    {Meaning::tree_width, "width of a tree", ""},
    {Meaning::tree_tokens, "tokens of a tree", ""},
    {Meaning::name, "name of the run",
     "config,configuration,mode,method,run,setup,drafter,name,variant,spec,spec decode,spec decoding,strategy,"
     "decoding,arm,setting,"
     "settings,stage,algorithm,algo,draft model,drafting,test case,case,spec type,draft parameter,condition,scenario,"
     "approach,technique,experiment,option,label,flags,args,profile,speculator,rep,trial,best config,best setting"},
    {Meaning::concurrency, "concurrent requests",
     "c,bs,b,conc,concurrency,max concurrency,users,batch,batch size,batchsize,clients,streams,parallel,np,"
     "concurrent requests,requests,running,running requests,batch sz,concur,concurr,max concur,max conc,gbs,"
     "global batch size,concurrent,sessions,vus,inflight,in flight,inflight requests,in flight requests,n parallel,"
     "concurrency level,parallelism,request concurrency,simultaneous,simultaneous requests,simultaneous users"},
    {Meaning::request_rate, "requests/s that are sent", "qps,rps,request rate,offered qps,target qps,arrival rate"},
    {Meaning::category, "kind of prompts",
     "task,category,benchmark,dataset,data set,prompt,workload,prompts,subset,domain,test prompt,prompt id"},
    {Meaning::subject, "model, device or engine",
     "model,target,target model,device,gpu,hardware,machine,rig,system,engine,backend,quant,quantization,slot,build,"
     "checkpoint,version,tp,tp size,tensor parallel,num gpus"},
    {Meaning::prompt_tokens, "prompt tokens",
     "isl,input len,input tok,prompt tok,prompt len,prompt size,num prompt tok,n prompt,in tok,input seq len"},
    {Meaning::output_tokens, "output tokens",
     "osl,output len,output tok,tok,generated tok,gen tok,generated,n predict,predicted n,predicted,completion tok"},
    {Meaning::context_tokens, "tokens of context",
     "ctx,context,context tok,context len,ctx len,ctx tok,context size,ctx size,tok in context,n kv,kv tok,kv len,kv "
     "depth,context depth,ctx depth,depth"},
    {Meaning::temperature, "temperature", "temperature,temp,sampling"},
    {Meaning::benchy_test, "test of prompts or output", "test"},
    {Meaning::total_speed, "output tokens/s of all requests together",
     "output throughput,output tok throughput,total tok/s,aggregate tok/s,agg tok/s,system tok/s,total throughput,"
     "aggregate throughput,system throughput,throughput total,output tok/s total,generation throughput,"
     "completion throughput"},
    {Meaning::request_speed, "output tokens/s of one request",
     "tok/s/user,tok/s/request,tok/s/stream,speed/request,speed/user,user tok/s,request tok/s,user throughput,output "
     "tok throughput/user,"
     "single stream,single stream tok/s,stream tok/s,interactivity,interactivity tok/s user,interactivity tok/s"},
    {Meaning::speed, "output tokens/s",
     "tok/s,output tok/s,gen tok/s,throughput,gen throughput,speed,gen speed,tg,tg speed,tok throughput,"
     "new tok/s,output speed,gen rate"},
    {Meaning::tpot, "time per output token",
     "tpot,ms/tok,ms/output tok,output tok latency,s/tok,sec/tok,time/output tok,time/tok,latency/tok,tok latency"},
    {Meaning::inter_token, "time between tokens", "itl,inter tok latency,intertoken latency"},
    {Meaning::iteration, "time of an iteration",
     "iteration,iteration time,iter time,ms/step,cost/step,cycle time,step,step time,step latency,step tpot,"
     "round tpot,round time,round latency"},
    {Meaning::ttft, "time to first token", "ttft,time to first tok,ttfr,e2e ttft,first tok latency,first tok"},
    {Meaning::duration, "duration", "duration,wall,wall time,elapsed,time,total time,benchmark duration"},
    {Meaning::length, "tokens per iteration, with the bonus token",
     "al,tau,acc len,a len,accepted len,mean len,draft mean len,tok/step,emitted/step,block efficiency,"
     "decoded tok/step,tok/step pass,emitted tok/step,mal,tok/step/request,tok/step/stream,tok/step/user"},
    {Meaning::accepted_per_step, "accepted drafts per iteration",
     "accepted/step,accepted drafts/step,acc/step,accepted tok/step"},
    {Meaning::mean_accepted, "accepted tokens per iteration",
     "accepted tok mean,mean accepted,mean accepted tok,avg accepted,avg accepted tok,average accepted,"
     "average accepted tok,mean accept,avg accept"},
    {Meaning::rate, "acceptance rate (accepted / drafted)",
     "acc,acc rate,acc %,acc ratio,alpha,rate,draft rate,accepted %,accepted rate,hit rate"},
    {Meaning::steps, "verification steps",
     "steps,rounds,drafts,num drafts,n drafts,iterations,verification steps,verify steps,verifies,spec rounds,iters,"
     "verifications,verify passes,verify calls,target forwards,target calls,forward passes,draft rounds,cycles,"
     "proposals,num proposals,n proposals"},
    {Meaning::drafted, "drafted tokens in all",
     "drafted,drafted tok,proposed,proposed drafts,proposed tok,total draft,total drafted,tok drafted,"
     "draft generated,num drafted,num drafted tok,n drafted,tok proposed,drafts proposed,draft tok generated,"
     "total draft tok,draft tok total,num draft tok total,n draft tok,n drafted tok"},
    {Meaning::mean_drafted, "drafted tokens per iteration", ""},
    {Meaning::accepted, "accepted tokens in all",
     "accepted,accepted tok,accepted drafts,accepted draft tok,num accepted tok,total accepted,"
     "tok accepted,accepted/drafted,draft accepted,draft tok accepted,accepts/attempts,mtp accepts/attempts,"
     "num accepted,n accepted,draft n accepted,n accepted tok,n acc,acc count,drafts accepted,accepted count,"
     "accepted/proposed"},
    {Meaning::positions, "acceptance by position",
     "pos acc,per position,per pos,positions,per position acc,per position acc rate,per pos acc,acc/position,"
     "position acc,by position,acc/pos,accepted/pos,accepted/position,accepted tok/pos,accepted tok/position,"
     "num accepted tok/pos,num accepted tok/position,acc rate/pos,acc rate/position,acc rates/position"},
    {Meaning::position, "share of steps that accept a position", ""},
    {Meaning::ignored, "not read", ""},
}};

using Words = std::pair<std::string_view, std::string_view>;

/// Words that are written in several ways, and the one that plain_words uses.
constexpr std::array<Words, 13> plain_words_of{{
    {"tokens,token,toks,tk,tks,tkn", "tok"},
    {"tps", "tok/s"},
    {"accept,acceptance,acpt", "acc"},
    {"length", "len"},
    {"speculative,speculation", "spec"},
    {"req", "request"},
    {"reqs", "requests"},
    {"aggregated", "aggregate"},
    {"assistant", "draft"},
    {"tput", "throughput"},
    {"\xCE\xB1", "alpha"},
    {"\xCE\xB3", "gamma"},
    {"\xCF\x84", "tau"},
}};

/// The same for the word after "/" or "per": "tokens/round".
constexpr std::array<Words, 5> plain_words_by{{
    {"second,seconds,sec", "s"},
    {"iter,iteration,round,cycle,verify,verification,forward,pass,draft", "step"},
    {"token", "tok"},
    {"req,sequence,seq", "request"},
    {"client", "user"},
}};

/// Whether words of a heading in lower case contain `c`.
bool is_heading_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '%' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Words of a heading, and those in brackets.
struct HeadingWords {
  std::string words = {}, unit = {};
};

HeadingWords split_heading(std::string_view heading) {
  HeadingWords both;
  std::string text = in_lower_case(heading);
  for (const std::string_view dash : {"\xE2\x80\x93", "\xE2\x80\x94"}) {
    for (std::size_t at = text.find(dash); at != std::string::npos; at = text.find(dash))
      text.replace(at, dash.size(), " ");
  }
  std::ranges::replace(text, '\\', '/');  // "tok\\s"
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    std::string& into = depth > 0 || c == ')' || c == ']' ? both.unit : both.words;
    if (is_heading_letter(c)) {
      if (c == '%' && !into.empty() && into.back() != ' ') into += ' ';  // "accept%"
      into += c;
    } else if (!into.empty() && into.back() != ' ') {
      into += ' ';
    }
  }
  constexpr std::string_view deviation = " \xC2\xB1";  // "tok/s +- std"
  both.words = trimmed(both.words.substr(0, both.words.find(deviation)));
  both.unit = trimmed(both.unit);
  if (both.unit == "ts") both.unit = "t/s";
  return both;
}

/// Whether a word is in a list.
bool is_of(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != list.npos; at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ',') && (end == list.size() || list[end] == ',')) return !word.empty();
  }
  return false;
}

std::string_view plain_word(std::span<const Words> of, std::string_view word) {
  const auto found = std::ranges::find_if(of, [&](const Words& one) { return is_of(one.first, word); });
  return found == of.end() ? word : found->second;
}

/// The parts of a list that are not empty.
std::vector<std::string_view> parts_of(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end > 0) parts.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

/// "tokens/s" and "t/s" are "tok/s".
std::string plain_quotient(std::string_view word) {
  static const RE2 generation("tg\\d+");
  if (RE2::FullMatch(piece(word), generation)) return "tg";  // "tg128" of llama-bench
  const std::vector<std::string_view> parts = parts_of(word, '/');
  std::string plain;
  for (const std::string_view part : parts) {
    if (plain.empty()) {
      plain = part == "t" && parts.size() > 1 ? "tok" : plain_word(plain_words_of, part);
    } else {
      plain += "/" + std::string(plain_word(plain_words_by, part));
    }
  }
  return plain;
}

/// Words before and after a heading that say how it was averaged, or where: at the server or the client.
constexpr std::string_view averages =
    "mean,avg,average,mean/std,avg/"
    "std,median,med,p50,overall,wtd,weighted,steady,state,sustained,eff,effective,server,client";
/// Of all requests together, of one, and of what an arm is.
constexpr std::string_view words_of_all =
    "aggregate,agg,total,combined,system,cluster,node,sum,batch,cumulative,\xCE\xA3";
constexpr std::string_view words_of_one = "single,individual,each,request,user,stream";
constexpr std::string_view of_arms = "spec,mtp,launch,server,decoding,drafting,draft,decode,run,bench,serving";

/// The words of a heading as in headings_of_meanings: "Draft tokens accepted per round" is "draft tok
/// accepted/step", "Decode tokens per second" is "gen tok/s". Words that say nothing are left out.
std::string plain_words(std::string_view words) {
  std::vector<std::string> plain;
  bool by = false;
  for (const std::string_view word : parts_of(words, ' ')) {
    if (by) {
      plain.back() += "/" + std::string(plain_word(plain_words_by, word));
    } else if (word != "per" || plain.empty()) {
      plain.push_back(plain_quotient(word));
    }
    by = word == "per" && !by && plain.back() != "per" && !is_of(averages, plain.back());  // "mean per user tok/s"
  }
  const auto begins = [&](std::initializer_list<std::string_view> first, std::string_view second) {
    return plain.size() > 1 && std::ranges::find(first, plain[0]) != first.end() && plain[1].starts_with(second);
  };
  if (begins({"per"}, "") && !begins({"per"}, "pos")) plain.erase(plain.begin());
  const std::size_t last = plain.size();  // "tok_s", "throughput_tok_s"
  if (last > 1 && plain[last - 2] == "tok" && (plain.back() == "s" || plain.back() == "sec")) {
    plain[last - 2] = "tok/s";
    plain.pop_back();
  }
  while (begins({"draft", "spec", "tok"}, "acc") && plain[1] == "acc") plain.erase(plain.begin());
  if (begins({"decode", "decoding"}, "gen")) plain.erase(plain.begin());  // "decode gen tok/s"
  const std::initializer_list<std::string_view> decodes{"decode", "decoding", "generation", "eval", "inference", "gen"};
  const bool of_speed = begins(decodes, "tok/s") || begins(decodes, "speed") || begins(decodes, "rate") ||
                        begins({"tg", "pred", "predicted", "out", "output", "completion", "generated"}, "tok/s") ||
                        begins({"decode", "decoding", "inference"}, "throughput");
  if (of_speed && !plain[1].starts_with("tok/s/")) {
    if (plain[0] != "output") plain[0] = "gen";
  } else if (of_speed || begins(decodes, "ms/tok") || begins(decodes, "s/tok") || begins(decodes, "latency/tok")) {
    plain.erase(plain.begin());  // "decode tok/s/user"
  }
  std::string joined;
  for (const std::string& word : plain) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

/// The meaning of every heading; the first one of a heading that has several.
std::unordered_map<std::string_view, Meaning> meanings_by_heading() {
  std::unordered_map<std::string_view, Meaning> meanings;
  for (const Headings& one : headings_of_meanings) {
    for (const std::string_view heading : parts_of(one.headings, ',')) meanings.emplace(heading, one.meaning);
  }
  return meanings;
}

/// The meaning of plain words. Of two that tell rows apart, "config / model", a name goes before a subject.
Meaning meaning_of(std::string_view words) {
  static const std::unordered_map<std::string_view, Meaning> meanings = meanings_by_heading();
  const auto meaning = [&](std::string_view of) {
    const auto found = meanings.find(of);
    return found == meanings.end() ? Meaning::ignored : found->second;
  };
  constexpr std::string_view both = " / ";
  const std::size_t at = words.find(both);
  if (at == words.npos) return meaning(words);
  const Meaning first = meaning(words.substr(0, at)), second = meaning(words.substr(at + both.size()));
  const auto names = [](Meaning one) { return one == Meaning::name || one == Meaning::subject; };
  return names(first) && names(second) ? std::min(first, second) : Meaning::ignored;
}

bool is_speed(Meaning meaning) {
  return meaning == Meaning::speed || meaning == Meaning::total_speed || meaning == Meaning::request_speed;
}

/// The meaning of words without those around them that say which value of it this is, which it removes: "total gen
/// tok/s", "TPOT p50".
Meaning qualified_meaning(std::string& words) {
  Meaning meaning = meaning_of(words);
  bool all = false, one = false;
  std::string rest = words;
  while (meaning == Meaning::ignored && rest.find(' ') != std::string::npos) {
    const std::string first = rest.substr(0, rest.find(' ')), last = rest.substr(rest.rfind(' ') + 1);
    const auto qualifies = [&](std::string_view word) {
      all = all || is_of(words_of_all, word);
      one = one || is_of(words_of_one, word);
      return is_of(averages, word) || is_of(words_of_all, word) || is_of(words_of_one, word);
    };
    if (qualifies(first)) {
      rest = plain_words(std::string_view(rest).substr(first.size() + 1));
    } else if (qualifies(last)) {
      rest.resize(rest.size() - last.size() - 1);
    } else {
      break;
    }
    const bool other = all && (rest == "tok throughput" || rest == "tok/step");  // with prompts; of a batch
    meaning = other ? Meaning::ignored : meaning_of(rest);
  }
  if (one || (all && meaning < Meaning::length)) {
    const bool of_requests = one && rest.find("tok") == std::string::npos;  // "request throughput"
    if (!is_speed(meaning) || of_requests || (all && meaning == Meaning::request_speed)) return Meaning::ignored;
    meaning = one ? Meaning::request_speed : Meaning::total_speed;
  }
  if (meaning != Meaning::ignored) words = rest;
  return meaning;
}

/// "num users", "simultaneous requests", but not the number of requests in all.
bool counts_requests(const std::string& words) {
  static const RE2 pattern(
      R"((?:concurrent|parallel|simultaneous|active) (?:requests|users|clients|streams|sessions|seqs|sequences|slots|agents|prompts))"
      R"(|(?:num|n) (?:users|clients|streams|sessions|concurrent|parallel|running(?: requests)?)|running request)");
  return RE2::FullMatch(words, pattern);
}

/// Whether the first word of a heading may begin a known one: a cheap test that rules out most text.
bool may_be_heading(std::string_view heading) {
  static const std::unordered_set<std::string_view> first_words = [] {
    std::unordered_set<std::string_view> words;
    for (const auto& [known, meaning] : meanings_by_heading())
      words.emplace(known.substr(0, std::min(known.find_first_of(" /"), known.size())));
    constexpr std::string_view others =
        "t,decode,decoding,generation,eval,inference,predicted,pred,out,completion,eagle,parallel,simultaneous,active";
    for (const std::string_view list : {averages, words_of_all, words_of_one, of_arms, others}) {
      for (const std::string_view word : parts_of(list, ',')) words.insert(word);
    }
    return words;
  }();
  std::string word;
  for (const char c : in_lower_case(heading)) {
    if (c == '(' || c == '[' || c == ')' || c == ']' || c == '%') return true;
    if (c != '/' && is_heading_letter(c)) {
      word += c;
    } else if (!word.empty()) {
      break;
    }
  }
  const std::string_view plain = plain_word(plain_words_of, word);
  // "p 3", "pos1", "acc_at_2", "k3"
  return word.starts_with('p') || word.starts_with("acc") || word.starts_with("tg") ||
         first_words.contains(plain.substr(0, plain.find_first_of(" /")));
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
      R"((?:p|pos|position|(?:per position )?acc(?:epted)?(?: rate)?(?: at)?(?: pos(?:ition)?)?) ?(\d{1,2}))");
  int at = 0;
  return RE2::FullMatch(words, pattern, &at) && at <= 32 ? std::optional(at) : std::nullopt;
}

/// The meaning of a speed whose brackets say what it is of: "t/s (req)", "tok/s (total)"; ignored for prompts or GPUs.
Meaning speed_of(Meaning meaning, std::string_view unit) {
  if (!is_speed(meaning)) return meaning;
  static const RE2 each(R"(.*\b(?:req|request|user|stream|single).*)");
  static const RE2 all(R"(.*\b(?:total|all|agg|aggregate|system|sum|combined)\b.*)");
  static const RE2 other(R"(.*(?:req/s|rps|gpu|prompt|input|prefill|pp|\bin\b).*)");
  const re2::StringPiece text = piece(unit);
  if (RE2::FullMatch(text, other)) return Meaning::ignored;
  if (meaning == Meaning::request_speed || RE2::FullMatch(text, each)) return Meaning::request_speed;
  return RE2::FullMatch(text, all) ? Meaning::total_speed : meaning;
}

/// Whether the unit in a heading is one of what its words mean: a draft length has none, "draft (ms)" is a time. A
/// largest concurrency for a context is the room of the KV cache; tokens of a batch are none of a request.
bool fits_unit(const Column& column, std::string_view unit) {
  static const RE2 room(R"(.*(?:\bctx|context|\bkv\b|tokens|\d ?k\b).*)");
  if (column.meaning == Meaning::concurrency && RE2::FullMatch(piece(unit), room)) return false;
  static const RE2 all(
      R"((?:whole |per )?batch|(?:all|sum of) (?:streams|requests|users|slots|sequences)|agg(?:regate\w*)?)");
  const bool length = column.meaning >= Meaning::length && column.meaning <= Meaning::mean_accepted;
  if (length && RE2::FullMatch(piece(unit), all)) return false;
  if (column.percent)
    return column.meaning == Meaning::rate || column.meaning >= Meaning::accepted ||
           column.meaning == Meaning::mean_accepted;
  return ms_of_unit(unit) == 0.0 || is_time(column.meaning);
}

}  // namespace

Column column_of(std::string_view heading) {
  Column column{.heading = std::string(trimmed(heading))};
  if (!may_be_heading(heading)) return column;
  HeadingWords both = split_heading(heading);
  column.percent = both.unit == "%" || both.words.find('%') != std::string::npos;
  if (both.words.starts_with("% ")) both.words.erase(0, 2);
  column.meaning = meaning_of(both.words);
  std::string words = plain_words(both.words);
  const auto unknown = [&] { return column.meaning == Meaning::ignored; };
  const auto look_up = [&] {
    if (unknown()) column.meaning = qualified_meaning(words);
  };
  look_up();
  if (const std::size_t at = both.words.find(" / "); unknown() && at != std::string::npos)
    words = plain_words(both.words.replace(at, 3, "/"));  // "ms / token"
  look_up();
  if (const std::size_t at = both.words.find('/'); unknown() && at != std::string::npos)
    column.meaning = meaning_of(std::string(both.words).replace(at, 1, " / "));  // "strategy/config"
  const bool in_tokens_per_s = meaning_of(plain_words(both.unit)) == Meaning::speed;
  if (unknown() && in_tokens_per_s) words = plain_words(words + " " + both.unit);  // "Decode (tok/s)"
  look_up();
  if (unknown()) {
    for (const std::string_view unit : {" ms", " s", " sec", " %", " pct", " tok/s"}) {
      if (!take_suffix(words, unit)) continue;
      if (both.unit.empty()) both.unit = trimmed(unit);
      look_up();
      if (unit == " tok/s" && !is_speed(column.meaning)) column.meaning = Meaning::ignored;
      column.percent = column.percent || unit == " %" || unit == " pct";
      break;
    }
  }
  if (constexpr std::string_view of_vllm = "spec decode "; unknown() && words.starts_with(of_vllm)) {
    words.erase(0, of_vllm.size());
    look_up();
  }
  if (unknown() && counts_requests(words)) column.meaning = Meaning::concurrency;
  if (unknown() && take_suffix(words, " name")) look_up();
  for (std::string rest = words; unknown() && is_of(of_arms, rest.substr(0, rest.find(' ')));) {  // "spec decode mode"
    rest.erase(0, std::min(rest.find(' '), rest.size() - 1) + 1);
    if (meaning_of(rest) == Meaning::name) column.meaning = Meaning::name;
  }
  if (unknown()) {
    column.position = position_of(words);
    if (column.position) column.meaning = Meaning::position;
  }
  if (in_tokens_per_s && !is_speed(column.meaning)) column.meaning = Meaning::ignored;  // "Prompt (tok/s)"
  column.meaning = speed_of(column.meaning, both.unit);
  if (!fits_unit(column, both.unit)) column.meaning = Meaning::ignored;
  if (column.percent && (column.meaning == Meaning::accepted || column.meaning == Meaning::mean_accepted))
    column.meaning = Meaning::rate;
  if (column.meaning == Meaning::category && words == "prompt" && plain_words(both.unit) == "tok")
    column.meaning = Meaning::prompt_tokens;
  if (is_time(column.meaning)) {
    column.unit = ms_of_unit(both.unit);
    if (words.starts_with("ms")) column.unit = 1.0;
    if (words.starts_with("s/") || words == "s") column.unit = 1000.0;
    if (column.meaning == Meaning::duration && column.unit == 0.0) column.unit = 1000.0;
  }
  constexpr std::string_view counts =
      "n,draft,draft tok,num draft tok,draft n,n draft,num steps,draft steps,window,spec window,spec steps";
  column.may_be_count = column.meaning == Meaning::gamma && is_of(counts, words);
  return column;
}

bool may_be_speed(std::string_view heading) {
  return !heading.empty() && column_of(heading).meaning == Meaning::ignored &&
         is_speed(column_of(std::string(heading) + " tok/s").meaning);
}

std::optional<std::size_t> only_speed(std::span<const std::string> headings) {
  static const RE2 unit(R"((?i).*[a-z)\d][ _(\[]+(?:t(?:o?ks?|okens?)?/s(?:ec(?:ond)?)?|tps)[)\]]?)");
  static const RE2 limit(
      R"((?i).*(?:\b|_)(?:min|max|best|worst|peak|p\d\d?|std\w*|first|last|before|vs|gain|delta)(?:\b|_).*)");
  std::optional<std::size_t> only;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const Column column = column_of(headings[i]);
    if (is_speed(column.meaning) || column.meaning == Meaning::tpot) return std::nullopt;
    if (column.meaning != Meaning::ignored || names_expected(headings[i]) || !RE2::FullMatch(headings[i], unit))
      continue;
    if (only) return std::nullopt;
    only = i;
  }
  if (only && (names_other_speed(headings[*only]) || RE2::FullMatch(headings[*only], limit))) only.reset();
  return only;
}

std::string_view words_of(Meaning meaning) {
  const auto* const found = std::ranges::find(headings_of_meanings, meaning, &Headings::meaning);
  return found == headings_of_meanings.end() ? "not read" : found->words;
}

}  // namespace foredraft::logs
