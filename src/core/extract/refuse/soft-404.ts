import type { PageSignals } from './page-signals.ts'
import { countSentences } from './prose.ts'

/** Titles of missing pages. */
const NOT_FOUND = new RegExp(
  [
    String.raw`^(?:error\s*)?404(?:$|\s*[-–—|:!.,(]|\s+(?:error|not found|page|file)\b)`,
    String.raw`\b404\b.{0,20}\b(?:error|not found)\b`,
    String.raw`\b(?:page|file|document|content|article|url) (?:(?:was|is|could|can|does|has|you\S*|requested|are|looking|for|be|been)\s+){0,8}(?:not|no longer|cannot|can(?:'|’)?t|couldn(?:'|’)?t|doesn(?:'|’)?t|isn(?:'|’)?t)(?: be)? (?:found|exist|available|here|find)`,
    String.raw`\b(?:can(?:'|’)?t|cannot|couldn(?:'|’)?t|could not) (?:find|locate) (?:that|this|the|your) page`,
    String.raw`\bthat page (?:can(?:'|’)?t|cannot) be found`,
    'seite (?:wurde )?nicht gefunden|seite existiert nicht',
    "page (?:non trouvée|introuvable)|page n(?:'|’)existe pas",
    'página no (?:encontrada|existe)|no se encuentra la página',
    'página não encontrada',
    'pagina non trovata|pagina niet gevonden',
    'sidan (?:kunde inte hittas|hittades inte|finns inte)|siden (?:blev |ble )?ikke (?:fundet|funnet)|sivua ei löyty?',
    'strona nie (?:została znaleziona|istnieje)|nie znaleziono strony|stránka (?:nebyla )?nenalezena|oldal nem található',
    'страница не найдена|сторінку не знайдено|sayfa bulunamadı|pagina nu a fost găsită',
    'ページが見つかりません|页面不存在|页面未找到|找不到(?:该|此)?[页頁]面|페이지를 찾을 수 없',
  ].join('|'),
  'iu',
)

/** Titles of missing pages, or of searches without hits, when nothing else is in the title. */
const NOTHING_FOUND =
  /^(?:not found|nothing (?:was )?found|no results(?: (?:were )?found)?|content (?:is )?not available)[.!]?$/i
const SEPARATOR = /(?<!\s)\s+[|–—·•»«:-]\s+/

/** Longest content of a missing page: an apology, a search form, a few links. */
const MAX_CHARS = 500
/** The limit when more than one signal says that the page is missing. */
const MAX_CHARS_WHEN_SURE = 1500
/** A shorter text explains nothing. */
const MIN_EXPLANATION_CHARS = 120

const MISSING_STATUSES = new Set([404, 410])

/** Words of an apology to the reader, which an explanation of an error lacks. */
const APOLOGY_WORDS =
  /\b(?:you(?:r|['’]re)?|we|our|us|sorry|oops|go (?:back|home)|home ?page|wir|sie|ihre?|nous|vous|votre|lo sentimos|nuestr[ao]|su|ci|spiacenti|desculpe|wij|uw|vi|мы|вы|вам)\b|申し訳|抱歉|죄송/iu

/** Whether a title, a heading or a line says that the page is missing. */
export function isNotFoundText(line: string): boolean {
  return NOT_FOUND.test(line) || line.split(SEPARATOR).some((part) => NOTHING_FOUND.test(part.trim()))
}

/** Detects a page that says it is missing, whatever its status. */
export function findSoft404(signals: PageSignals): string | undefined {
  const { title, heading, status, contentLength } = signals
  const isGone = MISSING_STATUSES.has(status)
  if (isGone && contentLength <= MAX_CHARS) return `answered with status ${status}`
  const isTitleNotFound = isNotFoundText(title)
  const isHeadingNotFound = isNotFoundText(heading)
  if (!isTitleNotFound && !isHeadingNotFound) return undefined
  const isSure = isGone || (isTitleNotFound && isHeadingNotFound)
  if (contentLength > (isSure ? MAX_CHARS_WHEN_SURE : MAX_CHARS)) return undefined
  if (!isGone && hasExplanation(signals)) return undefined
  return `says ${JSON.stringify((isHeadingNotFound ? heading : title).slice(0, 80))}`
}

/** Whether a page explains the error that its title names. */
function hasExplanation({ content, contentLength, hasCode }: PageSignals): boolean {
  if (hasCode) return true
  return contentLength >= MIN_EXPLANATION_CHARS && !APOLOGY_WORDS.test(content) && countSentences(content) >= 2
}
