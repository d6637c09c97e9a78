// SPDX-License-Identifier: Apache-2.0
#include "logs/languages.hpp"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <span>

#include "logs/arms.hpp"
#include "logs/patterns.hpp"

namespace foredraft::logs {
namespace {

/// What words are in English (a rewrite of them), and the words (RE2, in any case). "@d" is the name of a drafter, "@s"
/// are words for speculation, "@n" Chinese ones for "without" and "@w" for "with"; an "@" around English words
/// separates them from others.
struct Translation {
  const char *english, *words;
};

constexpr const char* words_of_speculation =
    R"((?:投机(?:解码|采样|推理|推测)?|投機(?:的)?(?:解碼|デコード|デコーディング|推論)?|推[测測](?:解[码碼]|采样|デコード))"
    R"(|推測的?デコード|草稿(?:模型)?|ドラフト(?:モデル)?|(?:추측(?:적)?|투기적?) ?(?:디코딩|실행)|드래프트(?: ?모델)?)"
    R"(|spekulation|entwurf(?:smodells?)?|(?:décodage )?spéculati(?:on|f)|brouillon|(?:decodificación )?especulativa)"
    R"(|especulaci[óo]n|borrador|спекуляц\pL+|спекулятивн\pL+(?: декодировани\pL)?|черновик\pL*))";

/// "Used", "enabled", "switched on", and the same after a word for "not".
constexpr const char* chinese_with = "使用|启用|啟用|开启|開啟|打开|打開|加上|开|開|带|帶|加|用";
constexpr const char* chinese_without =
    "(?:没有?|沒有?|不|未|无|無)(?:使用|启用|啟用|开启|開啟|打开|打開|加上|开|開|带|帶|加|用)?|关闭|關閉|关掉|關掉|"
    "禁用|停用|非";

/// Applied one after the other: longer words before those that they contain.
constexpr std::array<Translation, 110> translations{{
    // punctuation of CJK fonts, ratios, units
    {" (", "（"},
    {") ", "）"},
    {": ", "："},
    {", ", "，|、"},
    {"; ", "；"},
    {"%", "％"},
    {"/", "／"},
    {"\\1x", R"(([\d.]) ?(?:倍|배|раза?))"},
    {"@tok/s@",
     R"((?:tokens?|トークン|토큰|令牌|词元) ?[/每毎] ?(?:秒|초)|(?:每秒|毎秒|초당) ?(?:tokens?|トークン|토큰|令牌|词元)数?)"},
    {"@tok/s@", R"((?:tokens?|jetons?|ток(?:ен\pL*)?) ?/ ?(?:seconde|сек\.?|с)|jetons?/s)"},
    {"@tok/step@", R"((?:tokens?|tok|トークン|토큰|令牌|词元) ?[/每] ?(?:轮|輪|步|ステップ|스텝))"},
    {"@tok/step@",
     R"((?:tokens?|jetons?) (?:pro|je) (?:schritt|runde|iteration)|(?:tokens?|jetons?) par (?:étape|itération)|tokens? por (?:paso|iteración))"},
    {"\\1/stream", R"((tok\w*/s) ?/ ?[路流])"},
    {"@ms@", "毫秒|ミリ秒|밀리초"},
    {"\\1ms\\2", R"(([\d ,(])мс([ ,)|]|$))"},
    // times of a token and of a step
    {"@time per token@",
     R"(每(?:个|個)?(?:输出|輸出)? ?(?:tokens?|令牌|词元)的?(?:平均)?(?:耗时|耗時|时间|時間|延迟|延遲))"},
    {"@time per token@", R"((?:出力)?(?:1 ?)?(?:トークン|token)(?:あたり|当たり|毎)の?(?:時間|レイテンシ|遅延)?)"},
    {"@time per token@", R"(토큰당 ?(?:시간|지연(?: ?시간)?)|(?:zeit|latenz) (?:pro|je) token)"},
    {"@time per token@",
     R"((?:temps|latence) par (?:token|jeton)|(?:tiempo|latencia) por token|время на (?:один )?токен)"},
    {"@step time@",
     R"(每[轮步](?:耗时|时间)|ステップ時間|스텝 ?시간|zeit pro schritt|temps par étape|tiempo por paso)"},
    {"@TTFT@",
     R"(首(?:个|個)? ?(?:token|字|令牌)(?:延迟|延遲|时间|時間|耗时|等待)?|(?:最初の|初)トークン(?:到達)?(?:時間|まで)?)"},
    {"@TTFT@",
     R"(첫 ?토큰(?: ?(?:시간|지연))?|zeit bis zum ersten token|temps (?:au|jusqu'au) premier (?:token|jeton))"},
    {"@TTFT@", "tiempo hasta el primer token|время до первого токена"},
    // acceptance and draft length
    {"\\1@drafted@\\2@accepted@", R"(([;|\t] *)entwurf( *[;|\t] *)angenommen\b)"},
    {"@accepted@", R"(\bangenommene?(?: tokens?)?)"},
    {"@acceptance length@", R"((?:平均)?(?:接受|接收|受理)(?:长度|長度|長)|(?:평균 ?)?(?:수락|수용|채택) ?길이)"},
    {"@acceptance length@",
     R"(akzeptanzl[äa]nge|longueur (?:d['’]accept\w+|acceptée)|longitud (?:de aceptación|aceptada))"},
    {"@acceptance rate@",
     R"((?:接受|受理|受容|採択|採用)率|アクセプト率|(?:수락|수용|채택)[률율]|akzeptanz(?:rate|quote))"},
    {"@acceptance rate@", R"(taux d['’]accept\w+|tasa de aceptaci[óo]n|(?:доля|процент) принят\pL+(?: токенов)?)"},
    {"@acceptance@", R"(\b(?:akzeptanz|aceptaci[óo]n|acceptation|aceitação|accettazione)\b|принятие)"},
    {"@draft length@",
     R"((?:草稿|投机|推测|ドラフト|드래프트 ?)(?:token|トークン|토큰)?(?:长度|長度|長|步数|数|길이|수))"},
    {"@draft length@",
     R"(entwurfsl[äa]nge|(?:anzahl )?entwurfs?[- ]?tokens?|longueur d[eu] (?:brouillon|draft)|longitud del (?:borrador|draft)|длина черновика)"},
    {"\\1 depth", "(mtp|eagle-?3?) ?步[数數]"},
    // arms: without, with, off, on
    {"@no speculation@", "(?:@n) ?@s"},
    {"@no speculation@", R"(\b(?:ohne|sans|sin|senza|sem) @s|без @s)"},
    {"\\1without\\2", R"((^ *|[|;\t,] *[*`]*)(?:ohne|sans|sin|senza|sem|без)([*` ]*[|;\t,\r\n]))"},
    {"@no \\1@", R"((?:@n) ?(@d)\b)"},
    {"@no \\1@", R"(\b(?:ohne|sans|sin|senza|sem) (@d)\b)"},
    {"@no \\1@", R"(без (@d)\b)"},
    {"@after enabling \\1@", "(?:@w) ?(@d|@s) ?(?:之|以)?[后後]"},
    {"@after enabling \\1@", "(@d|@s) ?(?:使用|启用|啟用|开启|開啟|打开)(?:之|以)?[后後]"},
    {"\\1 off@",
     R"((@d|@s)[ :=]{0,2}(?:なし|無し|无|無効|オフ|未使用|[未没沒不][开開]启?|关[闭掉]?|關[閉掉]?|禁用|停用|없음|미사용|미적용|끔|비활성화?))"},
    {"\\1 off@\\2", R"((@d|@s) (?:aus|désactivé|inactif|desactivad[oa]|выкл\pL*)([ *`)]*(?:[|(]|$)))"},
    {"@with \\1", R"((?:@w|有) ?(@d\b|@s))"},
    {"@with \\1", R"(\b(?:mit|avec|con) (@d\b|@s))"},
    {"\\1with \\2", R"((^|[ |(*])с (@d\b|@s))"},
    {"\\1 on@", R"((@d|@s)[ :=]{0,2}(?:あり|有り|有効|オン|使用|开启?|開啟?|启用|있음|사용|적용|켬|활성화?))"},
    {"\\1 on@\\2", R"((@d|@s) (?:an|ein|activé|actif|activad[oa]|вкл\pL*)([ *`)]*(?:[|(]|$)))"},
    {"@benchmark@", "基准测试|基準測試"},
    {"@baseline@", R"(基线|基線|基准|基準|ベースライン|베이스라인|기준선|базов\pL+(?: линия)?)"},
    {"@baseline@", R"(\b(?:basis(?:linie|lauf|wert)|référence|l[íi]nea (?:de )?base)\b)"},
    {"@autoregressive@", "普通解码|自回归(?:解码)?|通常(?:デコード|推論)|일반 ?디코딩"},
    {"\\1off\\2", R"((\| *[*`]*)(?:无|無|なし|無し|없음|기준|关闭?|關閉?|未开启|未启用|無効|オフ|끔|否)([*` ]*\|))"},
    {"\\1off / on\\2",
     R"((\| *[*`]*)(?:aus|non?|nein|нет|なし|无|無|关) ?/ ?(?:an|ein|ja|oui|s[íi]|да|あり|有|开)([*` ]*\|))"},
    {"\\1off\\2", R"((\| *[*`]*)(?:aus|basis|nein|non|désactivé|нет|выкл)([*` ]*\|))"},
    {"\\1on\\2",
     R"((\| *[*`]*)(?:有|あり|有効|オン|있음|开启?|開啟?|启用|켬|是|an|ein|ja|oui|sí|activé|да|вкл)([*` ]*\|))"},
    {"@speculation@", "@s"},
    // loads
    {"@concurrency \\1@", R"((\d+) ?(?:个|路)?(?:并发|併發|並發|並列|並行|同時)(?:请求|請求|接続|リクエスト|用户)?)"},
    {"@concurrency \\1@", R"((\d+) ?(?:路|ストリーム|동시 ?(?:요청|접속|사용자)?))"},
    {"@concurrency@", R"((?:并发|併發|並發|並列|並行|同時(?:接続|実行|リクエスト)?)(?:请求)?(?:数|數|度)?)"},
    {"@concurrency@", R"(동시(?:성|(?: ?(?:요청|접속|사용자))(?: ?수)?)|(?:одновременн|параллельн)\pL+ запрос\pL+)"},
    {"@concurrent requests@",
     R"(\b(?:gleichzeitig|parallel)e[rn]? (?:(?:be)?nutzer|anwender|anfragen|clients|requests|sitzungen|streams)\b)"},
    {"@concurrent requests@",
     R"(\b(?:requêtes|utilisateurs|sessions|solicitudes|peticiones|usuarios|clientes|sesiones|solicitações|usuários)"
     R"(|richieste|utenti) (?:simult|concurr|concorr|parall?[eè]l)\pL+)"},
    {"@concurrency@",
     R"(\b(?:gleichzeitig(?:e|keit)?|simultan[ée]e?s|simult[áâ]?ne[oai]s?|concurrencia|concorrência)\b)"},
    {"@batch size@",
     R"(批(?:处理|次|量)?大小|バッチ(?:サイズ|数)|배치 ?크기|batchgr[öo](?:ß|ss)e|taille d[eu] (?:lot|batch))"},
    {"@batch size@", "tama[ñn]o del? lote|размер батча"},
    {"@single stream@", R"([单單][路流]|(?:単一|シングル)ストリーム|단일 ?(?:스트림|요청))"},
    {"@users@", R"(\b(?:(?:be)?nutzer|utilisateurs|usu[aá]rios|utilizadores|utenti)\b|пользовател\pL+)"},
    {"@users@", R"((?:用[户戶]|ユーザー?|사용자) ?[数數수]?)"},
    {"@requests@", R"(\b(?:anfragen|requêtes|solicitudes|peticiones|solicitações|richieste)\b|запрос(?:ы|ов)\b)"},
    // what was measured
    {"@tok/s@", R"((?:生成|输出|輸出|出力|推理|推論|解码|解碼|デコード) ?(?:速度|吞吐量?)(?:[ \x01]*tok/s)?)"},
    {"@tok/s@",
     R"((?:생성|디코딩|디코드|출력|추론) ?(?:속도|처리량)(?:[ \x01]*tok/s)?|(?:generierungs|ausgabe)geschwindigkeit)"},
    {"@tok/s@", R"((?:vitesse de (?:génération|décodage)|velocidad de (?:generación|decodificación)))"},
    {"@tok/s@", R"(скорость (?:генерации|декодирования)(?:[, \x01]*tok/s)?)"},
    {"@decode \\1", R"((?:生成|解码|解碼|デコード|생성|디코딩|디코드|генерация) ?(tok))"},
    {"@decode@", "解码|解碼|デコード|디코딩|디코드"},
    {"@total throughput@",
     R"((?:聚合|集約|合計|总|總|総|전체|총|합계) ?(?:吞吐量?|スループット|처리량)|gesamtdurchsatz)"},
    {"@total throughput@", R"(débit (?:total|agrégé)|rendimiento total|(?:общая|суммарная) пропускная способность)"},
    {"@throughput@", R"(吞吐量?|スループット|처리량|\b(?:durchsatz|débit|rendimiento)\b|пропускная способность)"},
    {"@speedup@", R"((?:加速|高速化|가속)(?:比|率|비|률)?|提速|倍率|속도 ?향상|배속)"},
    {"@speedup@", R"(\b(?:beschleunigung|accélération|aceleración)\b|ускорение)"},
    {"@gain@", R"(\b(?:ganancia|gewinn|zugewinn)\b|выигрыш|收益)"},
    {"@drop@", "下降|劣化|变慢|變慢|悪化"},
    {"@speed@", R"(速度|속도|\b(?:geschwindigkeit|vitesse|velocidad)\b|скорость)"},
    {"@duration@", R"([总總総](?:耗时|耗時|时间|時間)|gesamtzeit|temps total|tiempo total|общее время)"},
    {"@time@", "耗时|耗時|所要時間|소요 ?시간"},
    {"@change@",
     R"(变化|變化|変化|改善|提升|增益|변화|개선|향상|\b(?:verbesserung|mejora|amélioration)\b|прирост|изменение)"},
    {"@server@", "服务端"},
    {"@client@", "客户端"},
    {"@mean@", R"(平均值?|均值|평균|\b(?:mittelwert|moyenne|promedio)\b|среднее)"},
    {"@median@", "中位数?|中央値|중앙값|медиана"},
    {"@total@", "总计?|總計?|聚合|集約|合計|합계|총"},
    // what rows and columns are
    {"@metric@", R"(指标|指標|項目|项目|지표|항목|метрика|показатель)"},
    {"@metric@", R"(\b(?:metrik|messgr[öo](?:ß|ss)e|kennzahl|kennwert|m[ée]tri(?:que|ca)|indicador|indicateur)\b)"},
    {"\\1value\\2", R"((\| *[*`]*)(?:值|数值|數值|値|값|wert|valeur|valor|значение)([*` ]*\|))"},
    {"@config@", R"(配置|構成|设置|設定|구성|설정|\b(?:konfiguration|configuraci[óo]n)\b|конфигурация)"},
    {"@method@", R"(方案|方法|方式|手法|방식|방법|\b(?:methode|verfahren|méthode|m[ée]todo)\b|метод)"},
    {"\\1run\\2",
     R"((^ *|[|;\t,] *[*`]*)(?:(?:durch)?lauf|essai|exécution|ejecución|execução|esecuzione|прогон)([*` ]*[|;\t,\r\n]))"},
    {"@mode@", R"(模式|モード|모드|\b(?:modus|modo)\b|режим)"},
    {"@scenario@", R"(场景|場景|シナリオ|시나리오|\b(?:szenario|scénario|escenario)\b|сценарий)"},
    {"@variant@", R"(变体|變體|\bvariante\b|вариант)"},
    {"@engine@", "框架|引擎|エンジン|엔진"},
    {"@model@", R"(模型|モデル|모델|\b(?:modell|modèle|modelo)\b|модель)"},
    {"@task@", R"(任务|任務|タスク|작업|\b(?:aufgabe|tâche|tarea)\b|задача)"},
    {"@dataset@", R"(数据集|データセット|데이터셋|\bdatensatz\b|датасет)"},
    {"@input length@", "(?:输入|輸入|入力|입력) ?(?:长度|長度|長さ?|길이)"},
    {"@output length@", "(?:输出|輸出|出力|출력) ?(?:长度|長度|長さ?|길이)"},
    {"@context@",
     R"(上下文(?:长度)?|コンテキスト(?:長さ?)?|컨텍스트(?: ?길이)?|\b(?:kontext|contexte|contexto)\b|контекст)"},
    {"@prefill@", "预填充|プリフィル|프리필"},
    {"@token@", R"(トークン|토큰|令牌|词元|токен\pL*)"},
}};

/// The "@" of a translation in a text; becomes a blank between words.
constexpr char seam = '\x01';

std::string with_each(std::string text, std::string_view name, std::string_view is) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + is.size()))
    text.replace(at, name.size(), is);
  return text;
}

std::string with_switches(std::string words) {
  return with_each(with_each(std::move(words), "@n", chinese_without), "@w", chinese_with);
}

std::string pattern_of(const Translation& one) {
  static const std::string drafters =
      "(?:(?:" + std::string(names_of_drafters) + R"()(?:-?\d)?|spec\w*(?: decoding)?|sd|drafts?))";
  return "(?i)" + with_each(with_each(with_switches(one.words), "@d", drafters), "@s", words_of_speculation);
}

/// A part of the translations, and a cheap test that rules out most texts.
struct Part {
  explicit Part(std::span<const Translation> of) : translations(of), any(pattern_of_any(of)) {
    for (const Translation& one : of) patterns.emplace_back(pattern_of(one));
  }
  static std::string pattern_of_any(std::span<const Translation> of) {
    std::string all;
    for (const Translation& one : of) {
      const std::string words = one.words == std::string_view("@s") ? words_of_speculation : one.words;
      all += (all.empty() ? "(?i)" : "|") +
             with_each(with_each(with_each(with_switches(words), "@d", "[a-z]+"), "@s", "."), R"(\pL)", ".");
    }
    return all;
  }

  std::span<const Translation> translations;
  RE2 any;
  std::deque<RE2> patterns = {};
};

/// A blank for each seam between two words.
std::string without_seams(std::string_view text) {
  constexpr std::string_view apart = " \t\r\n|;()[]/:=*`";
  std::string plain;
  bool pending = false;
  for (const char c : text) {
    if (c == seam) {
      pending = true;
      continue;
    }
    if (pending && !plain.empty() && apart.find(plain.back()) == apart.npos && apart.find(c) == apart.npos)
      plain += ' ';
    pending = false;
    plain += c;
  }
  return plain;
}

/// Whether a line may have words of other languages: in another script, a heading, an item of a list, a row, or with
/// the name of an arm at its beginning ("ohne MTP: 20 tok/s").
bool may_be_foreign(std::string_view line) {
  constexpr std::size_t longest = 2000;
  const std::size_t first = line.find_first_not_of(" \t");
  if (line.size() > longest || first == line.npos || std::string_view("{[\"").find(line[first]) != line.npos)
    return false;
  static const RE2 arm("(?i)^(?:ohne|mit|sans|avec|sin|con) ");
  static const RE2 commas(R"([^\s,][^,]*(?:,(?:[^\s,][^,]*)?){2,})");  // of a table: no blank follows them
  static const RE2 head(R"(\s*[^\d\s]+(?: [^\d\s]+)*(?:\s{2,}[^\d\s]+(?: [^\d\s]+)*){2,}\s*)");  // of columns
  return std::string_view("#-*>").find(line[first]) != line.npos || RE2::FullMatch(piece(line), head) ||
         RE2::FullMatch(piece(line), commas) || RE2::PartialMatch(piece(line.substr(first)), arm) ||
         std::ranges::count_if(line, [](char c) { return c == '|' || c == ';' || c == '\t'; }) > 1 ||
         std::ranges::any_of(line, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

std::string in_english(std::string_view line) {
  static const std::deque<Part> parts = [] {
    constexpr std::size_t size = 16;
    std::deque<Part> all;
    for (std::span<const Translation> rest = translations; !rest.empty();
         rest = rest.subspan(std::min(size, rest.size())))
      all.emplace_back(rest.first(std::min(size, rest.size())));
    return all;
  }();
  std::string text(line);
  for (const Part& part : parts) {
    if (!RE2::PartialMatch(text, part.any)) continue;
    for (std::size_t i = 0; i < part.patterns.size(); ++i)
      RE2::GlobalReplace(&text, part.patterns[i], with_each(part.translations[i].english, "@", "\x01"));
  }
  return without_seams(text);
}

}  // namespace

void append_in_english(std::string_view lines, std::string& into) {
  while (!lines.empty()) {
    const std::size_t size = std::min(lines.find('\n'), lines.size() - 1) + 1;
    const std::string_view line = lines.substr(0, size);
    if (may_be_foreign(line)) {
      into += in_english(line);
    } else {
      into += line;
    }
    lines.remove_prefix(size);
  }
}

}  // namespace foredraft::logs
