import { resolveHttp, withoutFragment } from '../resolve.ts'
import type { PageSignals } from './page-signals.ts'

/** Where a page without content of its own redirects to, and how. */
export interface Redirect {
  readonly detail: string
  readonly target: string
}

/** After a longer delay the page is meant to be read, or reloads itself. */
const MAX_SECONDS = 5
/** Maximum length of the visible text: `Click here if you are not redirected`, and a line or two around it. */
const MAX_SHOWN_CHARS = 400
const MAX_SCRIPT_PAGE_CHARS = 200
/** A longer script does more than redirect. */
const MAX_SCRIPT_CHARS = 2000

const REFRESH = /^\s*(\d+)(?:\.\d*)?\s*[;,\s]\s*(?:url\s*=\s*)?["']?([^"'>\s]+)/i
const LOCATION =
  /\blocation(?:\.href)?\s*=\s*["'`]([^"'`\s]+)["'`]|\blocation\.(?:replace|assign)\(\s*["'`]([^"'`\s]+)["'`]/
/** As {@link LOCATION}, with a variable. */
const LOCATION_VARIABLE =
  /\blocation(?:\.href)?\s*=\s*([a-z_$][\w$]*)\s*(?:[;}\n]|$)|\blocation\.(?:replace|assign)\(\s*([a-z_$][\w$]*)\s*\)/i
const REDIRECT_PHRASES =
  /\bredirecting|\bredirection\b|being redirected|will be redirected|has (?:been )?moved|moved (?:to|permanently)|weitergeleitet|weiterleitung|umgeleitet|redirig|reindirizz/i

/** Detects a page that only redirects. */
export function findRedirect(signals: PageSignals, base: string): Redirect | undefined {
  const { visibleText, refresh, scripts, sources, scriptLength, canonical, title, frames, linkTargets } = signals
  if (visibleText.length > MAX_SHOWN_CHARS) return undefined
  const ownUrl = withoutFragment(signals.url)
  const redirectTo = (href: string | undefined, detail: string): Redirect | undefined => {
    const target = href === undefined ? undefined : resolveHttp(href, base)
    return target === undefined || withoutFragment(target) === ownUrl ? undefined : { detail, target }
  }
  const [, seconds, href] = REFRESH.exec(refresh) ?? []
  if (seconds !== undefined && Number(seconds) <= MAX_SECONDS) {
    const found = redirectTo(href, `refreshes to another address after ${seconds} s`)
    if (found !== undefined) return found
  }
  const [frame, ...others] = frames
  if (frame !== undefined && others.length === 0) return redirectTo(frame, 'shows another address in a frame')
  if (visibleText.length > MAX_SCRIPT_PAGE_CHARS) return undefined
  if (sources === '' && scriptLength < MAX_SCRIPT_CHARS) {
    const [, assigned, replaced] = LOCATION.exec(scripts) ?? []
    const found = redirectTo(assigned ?? replaced ?? variableIn(scripts), 'a script leads to another address')
    if (found !== undefined) return found
  }
  if (signals.hasCode || !REDIRECT_PHRASES.test(`${title} ${visibleText}`)) return undefined
  const [link, another] = linkTargets
  const moved = redirectTo(canonical ?? undefined, 'says that it has moved')
  return moved ?? redirectTo(another === undefined ? link : undefined, 'says that it has moved')
}

/** The address in `var to = "/new"; location = to`. */
function variableIn(scripts: string): string | undefined {
  const [, assigned, replaced] = LOCATION_VARIABLE.exec(scripts) ?? []
  const name = assigned ?? replaced
  if (name === undefined) return undefined
  const value = new RegExp(
    String.raw`(?:^|[\s;,])${name.replaceAll('$', '\\$')}\s*=\s*["'${'`'}]([^"'${'`'}\s]+)["'${'`'}]`,
  )
  return value.exec(scripts)?.[1]
}
