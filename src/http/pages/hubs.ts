import type { Context } from 'hono'
import { html } from 'hono/html'
import { PLACE_KINDS } from '../../analysis/place.ts'
import { countOf, writeNumber } from '../../core/text/count.ts'
import type { HubCoverage, HubQuery, KeptHub } from '../../library/place-hubs.ts'
import { given } from '../given.ts'
import type { Understanding } from '../store-access.ts'
import { renderPage } from './layout.ts'
import {
  type Column,
  type Html,
  isWebUrl,
  type Part,
  placeHref,
  type Row,
  writeAddress,
  writeChoice,
  writeCounters,
  writeField,
  writeFilters,
  writeHostLink,
  writeHref,
  writeMoment,
  writePages,
  writePercent,
  writeTable,
  writeText,
} from './parts.ts'
import { readNumber, readText, readWord } from './query.ts'

const PATH = '/hubs'
const PAGE_SIZE = 100
const MOST_HOSTS = 100
const MOST_MISSING = 200
const MOST_PATTERNS = 100

/** `/hubs`: pages that lead to what is about a place, by host, place and topic; of a host also how well they cover the world. */
export async function renderHubs(c: Context, { placeHubs, gazetteer }: Understanding): Promise<Html> {
  const host = readText(c, 'host')?.toLowerCase()
  const placeId = readNumber(c, 'place')
  const placeKind = readWord(c, 'kind', PLACE_KINDS)
  const topicSlug = readText(c, 'topic')
  const offset = readNumber(c, 'offset') ?? 0
  const filter: Omit<HubQuery, 'offset' | 'limit'> = given({ host, placeId, placeKind, topicSlug })
  const { total, items } = await placeHubs.list({ ...filter, offset, limit: PAGE_SIZE })
  const coverage = host === undefined ? undefined : await placeHubs.coverage(host)
  const place = placeId === undefined ? undefined : await gazetteer.findPlace(placeId)
  const query = { host, place: placeId, kind: placeKind, topic: topicSlug }
  return renderPage({
    title: 'Hubs',
    section: 'Gazetteer',
    body: html`<p class="quiet">Pages that mainly lead to what is about a place, and maybe to one topic there. Crawls of the type intelligent look for them, and an <a href="/analysis/ssr">analysis</a> finds them among stored pages.</p>
<div class="controls">${writeFilters(PATH, [
      writeField('Host', 'host', host),
      writeField('Number of a place', 'place', placeId, 'number'),
      writeChoice('Kind of place', 'kind', placeKind, PLACE_KINDS),
      writeField('Topic', 'topic', topicSlug),
    ])}</div>
${place === undefined ? '' : html`<p>Of <a class="text" href="${placeHref(place.place.id)}">${writeText(place.place.name)}</a></p>`}
${coverage === undefined ? '' : writeCoverage(coverage)}
${coverage === undefined && placeId === undefined && topicSlug === undefined ? await writeHosts(placeHubs.listHosts(MOST_HOSTS)) : ''}
<h2>${host === undefined ? 'Hubs' : html`Hubs of ${writeText(host)}`}</h2>
${writeTable({
  caption: `${writeNumber(items.length)} of ${countOf(total, 'hub')}`,
  columns: hubColumns(),
  rows: items.map(hubRow),
  empty: html`<p>No hub ${total === 0 && Object.keys(filter).length === 0 ? 'is known yet' : 'passes these filters'}.</p><p class="quiet">Run <code>pharos gazetteer import</code> for the places of the world, then crawl with the type intelligent, or <a href="/analysis/ssr">analyse</a> what is stored.</p>`,
})}
${writePages({ path: PATH, query, offset, limit: PAGE_SIZE, total })}`,
  })
}

async function writeHosts(list: Promise<readonly { readonly host: string; readonly hubs: number }[]>): Promise<Html> {
  const hosts = await list
  return html`<h2>By host</h2>
${writeTable({
  caption: countOf(hosts.length, 'host'),
  columns: [
    { label: 'Host', look: 'address' },
    { label: 'Hubs', look: 'number' },
  ],
  rows: hosts.map(({ host, hubs }) => ({ cells: [writeHostLink(host), writeNumber(hubs)] })),
  empty: html`<p>No host has hubs yet.</p>`,
})}`
}

/** How well the hubs of a host cover the world, what is missing, and by which patterns that is known. */
function writeCoverage({ host, hubs, countriesCovered, countries, missing, topics, ...learnt }: HubCoverage): Html {
  // What has no slot is a single address.
  const patterns = learnt.patterns.filter(({ pattern }) => pattern.includes('{'))
  const share = countries === 0 ? 0 : countriesCovered / countries
  const words = `${writeNumber(countriesCovered)} of ${writeNumber(countries)} countries have a hub of their own`
  return html`${writeCounters([
    ['Hubs', 'hubs', hubs],
    ['Countries covered', 'countriesCovered', countriesCovered],
    ['Countries', 'countries', countries],
    ['Missing hubs', 'missing', missing.length],
    ['Patterns', 'patterns', patterns.length],
  ])}
<section class="panel"><svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${words}"><title>${words}</title><rect class="held" x="0" y="0" width="${(share * 100).toFixed(2)}" height="6"/></svg>
<p>${words}${countries === 0 ? '' : ` (${writePercent(share)})`}. <a href="${writeHref('/gazetteer', { host })}">What its pages are about, on a map</a> · <a href="${writeHref('/problems/ssr', { kind: 'missing-hub', scope: host })}">Its missing hubs as problems</a> · <a href="${writeHref('/milestones/ssr', { scope: host })}">Its milestones</a> · <a href="${writeHref('/domains', { host })}">The domain</a></p>
${topics.length === 0 ? '' : html`<p>Topics: ${topics.map(({ slug, label, hubs: count }, i) => html`${i === 0 ? '' : ', '}<a class="text" href="${writeHref(PATH, { host, topic: slug })}">${writeText(label)}</a> <span class="quiet">${writeNumber(count)}</span>`)}</p>`}</section>
<h2>Missing hubs</h2>
${writeTable({
  caption:
    missing.length > MOST_MISSING
      ? `The first ${MOST_MISSING} of ${writeNumber(missing.length)}`
      : countOf(missing.length, 'missing hub'),
  columns: [
    { label: 'Address', look: 'address' },
    { label: 'Place', look: 'word' },
    { label: 'Checked', look: 'time' },
  ],
  rows: missing.slice(0, MOST_MISSING).map(({ url, placeSlug, checkedAt }) => ({
    cells: [writeAddress(url), placeSlug === null ? '' : writeText(placeSlug), writeMoment(checkedAt)],
  })),
  empty: html`<p>None: whatever the site names, or its patterns imply, is there.</p>`,
})}
<h2>Patterns</h2>
${writeTable({
  caption: `${countOf(patterns.length, 'pattern')} of addresses that were learnt`,
  columns: [
    { label: 'Pattern', look: 'address' },
    { label: 'Leads to', look: 'word' },
    { label: 'Seen', look: 'number' },
    { label: 'Right', look: 'number' },
    { label: 'Wrong', look: 'number' },
    { label: 'Confidence', look: 'number' },
    { label: 'Examples', look: 'wide' },
  ],
  rows: patterns.slice(0, MOST_PATTERNS).map(patternRow),
  empty: html`<p>No patterns were learnt yet.</p>`,
})}`
}

function patternRow({ pattern, role, seen, hits, misses, confidence, examples }: HubCoverage['patterns'][number]): Row {
  return {
    cells: [
      html`<code>${writeText(pattern)}</code>`,
      role,
      writeNumber(seen),
      writeNumber(hits),
      writeNumber(misses),
      writePercent(confidence),
      html`<small>${examples.map((example) => html`<div>${isWebUrl(example) ? writeAddress(example) : writeText(example)}</div>`)}</small>`,
    ],
  }
}

/** The columns of a table of hubs. */
export function hubColumns(): readonly Column[] {
  return [
    { label: 'Address', look: 'address' },
    { label: 'Place', look: 'word' },
    { label: 'Kind', look: 'word' },
    { label: 'Topic', look: 'word' },
    { label: 'Leads on', look: 'number' },
    { label: 'To articles', look: 'number' },
    { label: 'Last seen', look: 'time' },
  ]
}

/** A hub in such a table. */
export function hubRow(hub: KeptHub): Row {
  const { url, title, placeId, placeSlug, placeKind, topicLabel, topicSlug, navLinks, articleLinks, lastSeenAt } = hub
  const slug: Part = placeSlug === null ? '' : writeText(placeSlug)
  return {
    cells: [
      html`${writeAddress(url)}<small>${title === null ? '' : writeText(title)}</small>`,
      placeId === null ? slug : html`<a class="text" href="${placeHref(placeId)}">${slug}</a>`,
      placeKind ?? '',
      topicSlug === null
        ? ''
        : html`<a class="text" href="${writeHref(PATH, { topic: topicSlug })}">${writeText(topicLabel ?? topicSlug)}</a>`,
      writeNumber(navLinks),
      writeNumber(articleLinks),
      writeMoment(lastSeenAt),
    ],
  }
}
