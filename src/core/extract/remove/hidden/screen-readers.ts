const SCREEN_READERS =
  /(?:^|\s)(?:[\w-]*[-:])?(?:sr-only|visually-?hidden|hidden-visually|screen-reader-(?:text|only)|show-for-sr|element-invisible|a11y-hidden|accessibly-hidden)(?=\s|$)/

/** In code most classes have one letter, so short class lists are skipped. */
const SHORTEST = 'sr-only'

/** Whether an element with these classes is only for screen readers. */
export function isForScreenReaders(list: string): boolean {
  return list.length >= SHORTEST.length && SCREEN_READERS.test(list) && !list.includes('not-sr-only')
}
