import type { DeclaredMetadata } from './declared-metadata.ts'

/** Separates a title from the name of the site. */
const SEPARATOR = /(?<!\s)\s+(?:[|–—·•»«:\u2013-]|\|\||::|>)\s+/

/** A longer heading is a whole text, not a title. */
const MAX_HEADING = 250

/** The title of a page without the name of its site. */
export function chooseTitle(declared: DeclaredMetadata, headline: string, host: string): string {
  const { meta, title } = declared
  const site = meta.get('og:site_name')?.[0] ?? meta.get('application-name')?.[0] ?? ''
  // A heading in the banner may be the name of the site.
  const headings = declared.headings
    .map(withoutPermalink)
    .filter((heading) => heading.length <= MAX_HEADING && normalizeName(heading) !== '' && !isSite(heading, site, host))
  const [first] = headings
  if (headings.length === 1 && first !== undefined) return first
  const sharedTitle = meta.get('og:title')?.[0] ?? meta.get('twitter:title')?.[0] ?? ''
  // Some sites give all their pages the same title for sharing.
  const isMissingOrSiteName = sharedTitle === '' || normalizeName(sharedTitle) === normalizeName(site)
  const fullTitle = isMissingOrSiteName ? title || headline || sharedTitle : sharedTitle
  if (fullTitle === '') return first ?? declared.headings[0] ?? ''
  const parts = fullTitle.split(SEPARATOR)
  const repeated = headings.find((heading) => parts.some((part) => normalizeName(part) === normalizeName(heading)))
  return repeated ?? withoutSite(fullTitle, parts, site, host)
}

/** A heading without its permalink mark. */
function withoutPermalink(heading: string): string {
  return heading.replace(/(?<![\s\u200b¶§🔗]|\s#)(?:[\s\u200b¶§🔗]|(?<=\s)#)+$/u, '')
}

function withoutSite(fullTitle: string, parts: readonly string[], site: string, host: string): string {
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (parts.length < 2) return fullTitle
  if (isSite(last, site, host)) return fullTitle.slice(0, fullTitle.lastIndexOf(last)).replace(END, '').trim()
  if (isSite(first, site, host)) return fullTitle.slice(first.length).replace(START, '').trim()
  return fullTitle
}

const START = /^\s*(?:[|–—·•»«:-]|\|\||::|>)\s+/
const END = /(?<!\s)\s+(?:[|–—·•»«:-]|\|\||::|>)\s*$/

/** Whether a part of a title is the name of the site, which often resembles its host. */
function isSite(part: string, site: string, host: string): boolean {
  const name = normalizeName(part)
  if (name === '') return false
  if (name === normalizeName(site)) return true
  return normalizeName(host) === name || (name.length > 3 && host.split('.').slice(0, -1).includes(name))
}

/** A name reduced to letters and digits, because the same name may be written with or without spaces. */
function normalizeName(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
}
