const SCREEN_READERS =
  /(?:^|\s)(?:[\w-]*[-:])?(?:sr-only|visually-?hidden|hidden-visually|screen-reader-(?:text|only)|show-for-sr|element-invisible|a11y-hidden|accessibly-hidden)(?=\s|$)/

/** The shortest class for screen readers. Shorter class lists, which highlighted code is full of, need no search. */
const SHORTEST_CLASS = 'sr-only'

/** Whether an element with these classes is only for screen readers. */
export function isForScreenReaders(classes: string): boolean {
  return classes.length >= SHORTEST_CLASS.length && SCREEN_READERS.test(classes) && !classes.includes('not-sr-only')
}
