/** Limits for the languages of a host: how many are listed, and the share of pages that each needs. */
const MAX_LANGUAGES = 5
const MIN_SHARE = 0.1

/** The most frequent languages, without their regions. */
export function rankLanguages(
  found: readonly { readonly language: string; readonly count: number }[],
  pages: number,
): string[] {
  const counts = new Map<string, number>()
  for (const { language, count } of found) {
    const [primary = ''] = language.toLowerCase().split('-')
    if (primary !== '') counts.set(primary, (counts.get(primary) ?? 0) + count)
  }
  return [...counts]
    .filter(([, count]) => count >= MIN_SHARE * pages)
    .toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, MAX_LANGUAGES)
    .map(([language]) => language)
}
