/** The scroll position of a page that was left. */
interface ScrollPosition {
  readonly href: string
  readonly top: number
  /** The link that the user followed. */
  readonly link: string | null
}

/** Positions by the number of their history entry, for entries that were left since the page was loaded. */
const positions = new Map<number, ScrollPosition>()
let current = numberOf(history.state) ?? 0
if (numberOf(history.state) === undefined) history.replaceState({ number: current }, '')
// The browser would restore the position before the content exists.
history.scrollRestoration = 'manual'

/** The position to restore after going back or forward, until the page is shown. */
let positionToRestore: ScrollPosition | undefined

/** Records the position before the route changes. `from` is the address that is left. */
export function savePosition(from: string): void {
  const number = numberOf(history.state)
  // Only the query changed, so the history entry is the same.
  if (number === current) return
  const link = document.activeElement?.getAttribute('href') ?? null
  positions.set(current, { href: from, top: scrollY, link })
  positionToRestore = number === undefined ? undefined : positions.get(number)
  current = number ?? current + 1
  if (number === undefined) history.replaceState({ number: current }, '')
}

/** Whether the user returned to this page by going back or forward. */
export function isReturning(): boolean {
  return positionToRestore !== undefined
}

/** Goes back if the previous history entry has this address; otherwise navigates to it. */
export function goBackTo(href: string): void {
  if (positions.get(current - 1)?.href === href) history.back()
  else location.hash = href
}

/** Goes back to the previous page, or to `href` if there is none. */
export function goBackOr(href: string): void {
  goBackTo(positions.get(current - 1)?.href ?? href)
}

/** Whether a click opens the link in this tab. */
export function isPlainClick({ ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean {
  return !(ctrlKey || metaKey || shiftKey || altKey)
}

/** Maximum time that the content may take to reach its previous height. */
const RESTORE_TIMEOUT_MS = 2000

/** Scrolls to the top or, on a return, to the previous position once the page is long enough. */
export function restorePosition(): void {
  const position = positionToRestore
  positionToRestore = undefined
  scrollTo(0, 0)
  if (position !== undefined) scrollBackTo(position)
}

function scrollBackTo({ top, link }: ScrollPosition): void {
  const move = () => {
    scrollTo(0, top)
    const selector = link === null ? null : `main a[href="${CSS.escape(link)}"]`
    const followedLink = selector === null ? null : document.querySelector<HTMLElement>(selector)
    followedLink?.focus({ preventScroll: true })
    if (scrollY < top - 1) return
    // Content that is not rendered yet has only an estimated height, so the link may still be out of view.
    if (followedLink !== null && !isInView(followedLink)) followedLink.scrollIntoView({ block: 'center' })
    if (link === null || followedLink !== null) stop()
  }
  const observer = new ResizeObserver(move)
  const stop = () => {
    observer.disconnect()
    clearTimeout(timer)
    for (const event of USER_INPUT_EVENTS) removeEventListener(event, stop)
  }
  const timer = setTimeout(stop, RESTORE_TIMEOUT_MS)
  // Any input of the user cancels the restoration.
  for (const event of USER_INPUT_EVENTS) addEventListener(event, stop, { passive: true })
  observer.observe(document.body)
}

function isInView(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return top >= 0 && bottom <= innerHeight
}

const USER_INPUT_EVENTS = ['wheel', 'touchstart', 'keydown', 'pointerdown']

function numberOf(state: unknown): number | undefined {
  if (typeof state !== 'object' || state === null || !('number' in state)) return undefined
  return typeof state.number === 'number' ? state.number : undefined
}
