import type { DeclaredMetadata } from './declared-metadata.ts'

/** The author of a page as the page states it; several names are joined by commas. */
export function chooseAuthor({ meta, items, bylines }: DeclaredMetadata, fromJsonLd: string): string | null {
  if (fromJsonLd !== '') return fromJsonLd
  const metaNames = [
    'author',
    'article:author',
    'dc.creator',
    'dcterms.creator',
    'citation_author',
    'parsely-author',
    'sailthru.author',
  ]
  for (const name of metaNames) {
    const authors = (meta.get(name) ?? []).map(cleanName).filter((author) => author !== '')
    if (authors.length > 0) return [...new Set(authors)].join(', ')
  }
  for (const text of [...(items.get('author') ?? []), ...bylines]) {
    const author = cleanName(text)
    if (author !== '' && author.length <= MAX_NAME_CHARS && author.split(' ').length <= MAX_NAME_WORDS) return author
  }
  return null
}

const MAX_NAME_CHARS = 80
const MAX_NAME_WORDS = 8

/** Matches a text that is not a name: an address, a weekday, or a placeholder for a name. */
const NOT_A_NAME =
  /^(?:https?:|www\.|@|\/|(?:mon|tues?|wed|thu|fri|sat|sun)(?:[a-z]*day)?$|(?:the )?author$|admin(?:istrator)?$)/i

/** A name without the words around it; '' for an address, or for text without a name. */
function cleanName(text: string): string {
  const name = text
    .replace(/^(?:(?:written|posted|published|story|words|text)\s+)?by:?\s+/i, '')
    .replace(/^authors?:?\s+/i, '')
    // A date or place may follow the name: `Jane Doe | 3 March`, `Jane Doe on March 3`.
    .replace(
      /(?<!\s)\s*(?:[|•·–—]|(?<=\s)-\s|\bon\s+\w+\s+\d|\b(?:published|updated|posted)\b|\d{1,2}\s+\w+\s+\d{4}|(?:,\s*)?\b\w+ \d{1,2}, \d{4}).*$/i,
      '',
    )
    .replace(/(?<!\s)\s*<[^<>]*>$/, '')
    .replace(/^[\s,;:]+/, '')
    .trim()
  return NOT_A_NAME.test(name) || !/\p{L}/u.test(name) ? '' : name
}
