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

/**
 * The address that a message is about, and where the message names it; -1 if it does not. An address of the message that begins with the
 * target is taken as a whole.
 */
export function findNoteUrl(message: string, target: string): { readonly at: number; readonly url: string } {
  const at = message.indexOf(target)
  if (at === -1) return { at, url: target }
  const rest = /^(?:\([^\s()]*\)|[^\s()])*?(?=[:.,;]?(?:[\s)]|$))/.exec(message.slice(at + target.length))?.[0] ?? ''
  return { at, url: `${target}${rest}` }
}
