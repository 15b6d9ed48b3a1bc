/** Titles of kinds of problems and milestones whose names say too little. */
export const NOTE_TITLES: Readonly<Record<string, string>> = {
  'page-cap': 'Page limit reached',
  'coverage-open': 'Pages left out',
  'llms-txt-unusable': 'llms.txt cannot be used',
  'llms-full-missing': 'llms-full.txt is missing',
  'depth2-coverage': 'Second level read',
  'downloads-1k': '1,000 documents downloaded',
  'articles-identified-1k': '1,000 articles found',
  'articles-identified-10k': '10,000 articles found',
}

/** A kind of problem or milestone as a title: `missing-hub` → `Missing hub` */
export function writeNoteTitle(kind: string): string {
  const title = NOTE_TITLES[kind]
  if (title !== undefined) return title
  return kind.charAt(0).toUpperCase() + kind.slice(1).replaceAll('-', ' ')
}
