import type { Signs } from './signs.ts'

/** What pages that are not there call themselves. */
const NOT_FOUND = new RegExp(
  [
    String.raw`^(?:error\s*)?404\b`,
    String.raw`\b404\b.{0,20}\b(?:error|not found)\b`,
    String.raw`\b(?:page|file|document|content|article|url) (?:(?:was|is|could|can|does|has|you\S*|requested|are|looking|for|be|been)\s+){0,8}(?:not|no longer|cannot|can(?:'|’)?t|couldn(?:'|’)?t|doesn(?:'|’)?t)(?: be)? (?:found|exist|available|here|find)`,
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

/** Content of a page that has none: an excuse, a search form, a few links. */
const LITTLE = 500
/** As much is believed when more than one sign says so. */
const LITTLE_WHEN_SURE = 1500

const GONE = new Set([404, 410])

/** Tells whether a title, a heading or a line says that there is no page. */
export function saysNotFound(line: string): boolean {
  return NOT_FOUND.test(line)
}

/** What says that there is no page here, whatever the status says. */
export function findSoft404({ title, heading, status, contentLength }: Signs): string | undefined {
  const isTitled = saysNotFound(title)
  const isHeaded = saysNotFound(heading)
  if (!isTitled && !isHeaded) return undefined
  const isSure = GONE.has(status) || (isTitled && isHeaded)
  if (contentLength > (isSure ? LITTLE_WHEN_SURE : LITTLE)) return undefined
  return `says "${(isHeaded ? heading : title).slice(0, 80)}"`
}
