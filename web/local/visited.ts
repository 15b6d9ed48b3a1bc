/** Where somebody was on a page before another one took its place. */
interface Place {
  readonly href: string
  readonly top: number
  /** The link that was followed. */
  readonly link: string | null
}

/** Entries of the history by their numbers, as far as this load of the page has seen them. */
const places = new Map<number, Place>()
let current = numberOf(history.state) ?? 0
if (numberOf(history.state) === undefined) history.replaceState({ number: current }, '')
// The browser would do it before there is anything to scroll to.
history.scrollRestoration = 'manual'

/** Where somebody was on the page that was come back to, until it is shown. */
let returning: Place | undefined

/** Notes where we are before what is shown changes. `from` is the address that is left. */
export function noteLeaving(from: string): void {
  const number = numberOf(history.state)
  // Nothing changed but what is asked of the page.
  if (number === current) return
  const link = document.activeElement?.getAttribute('href') ?? null
  places.set(current, { href: from, top: scrollY, link })
  returning = number === undefined ? undefined : places.get(number)
  current = number ?? current + 1
  if (number === undefined) history.replaceState({ number: current }, '')
}

/** Whether the page is one that was come back to. */
export function isReturning(): boolean {
  return returning !== undefined
}

/** Goes back to an address where the entry before this one has it; else there by a new one. */
export function goBackTo(href: string): void {
  if (places.get(current - 1)?.href === href) history.back()
  else location.hash = href
}

/** Goes back to wherever we came from; to an address where nobody knows. */
export function goBackOr(href: string): void {
  goBackTo(places.get(current - 1)?.href ?? href)
}

/** Whether a click means to go there, and not to open it beside. */
export function isPlainClick({ ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean {
  return !(ctrlKey || metaKey || shiftKey || altKey)
}

/** How long what is shown may take to be as long as it was. */
const PATIENCE_MS = 2000

/** Shows a page from its top; one that was come back to, where somebody was, as soon as it is long enough. */
export function showPlace(): void {
  const place = returning
  returning = undefined
  scrollTo(0, 0)
  if (place !== undefined) returnTo(place)
}

function returnTo({ top, link }: Place): void {
  const move = () => {
    scrollTo(0, top)
    const followed = link === null ? null : document.querySelector<HTMLElement>(`main a[href="${CSS.escape(link)}"]`)
    followed?.focus({ preventScroll: true })
    if (scrollY < top - 1) return
    // What is not drawn yet is only about as long as it was.
    if (followed !== null && !isInSight(followed)) followed.scrollIntoView({ block: 'center' })
    if (link === null || followed !== null) stop()
  }
  const watcher = new ResizeObserver(move)
  const stop = () => {
    watcher.disconnect()
    clearTimeout(patience)
    for (const event of BY_HAND) removeEventListener(event, stop)
  }
  const patience = setTimeout(stop, PATIENCE_MS)
  // Whoever goes elsewhere meanwhile is not pulled back.
  for (const event of BY_HAND) addEventListener(event, stop, { passive: true })
  watcher.observe(document.body)
}

function isInSight(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return top >= 0 && bottom <= innerHeight
}

const BY_HAND = ['wheel', 'touchstart', 'keydown', 'pointerdown']

function numberOf(state: unknown): number | undefined {
  if (typeof state !== 'object' || state === null || !('number' in state)) return undefined
  return typeof state.number === 'number' ? state.number : undefined
}
