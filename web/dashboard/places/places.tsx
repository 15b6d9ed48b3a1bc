import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import type { HubHosts, MentionList, PlaceMention } from '../api.ts'
import { type Refusal, request, writeQuery } from '../request.ts'
import { replaceQuery, route } from '../route.ts'
import { SiteFindings } from '../understanding/site-findings.tsx'
import { useLiveRefresh } from '../use-live-refresh.ts'
import { placeHref } from './place-href.ts'
import { WorldMap } from './world-map.tsx'

/** Number of places on the map; more would overlap. */
const MAX_ON_MAP = 300
const MAX_IN_TABLE = 100
const MAX_HOSTS = 200

/** The places that pages are about, on all hosts or on one; for one host also its patterns and hubs. */
export function Places(): JSX.Element {
  const host = route.value.query.get('host') ?? ''
  return (
    <>
      <div class="head">
        <h1>Places</h1>
      </div>
      <HostFilter host={host} />
      {host === '' ? null : <SiteFindings key={host} host={host} variant="whole" />}
      <Mentions key={`map of ${host}`} host={host} />
    </>
  )
}

function HostFilter({ host }: { readonly host: string }): JSX.Element {
  const hosts = useSignal<readonly string[]>([])
  useLiveRefresh(async () => {
    const answer = await request<HubHosts>(`/api/hubs/hosts?limit=${MAX_HOSTS}`)
    if ('value' in answer) hosts.value = answer.value.items.map((item) => item.host)
  })
  return (
    <div class="filters">
      <label class="host" for="places-host">
        Host
        <input
          id="places-host"
          list="places-hosts"
          value={host}
          placeholder="any"
          autocomplete="off"
          spellcheck={false}
          onChange={(event) => replaceQuery({ host: event.currentTarget.value.trim().toLowerCase() })}
        />
        <datalist id="places-hosts">
          {hosts.value.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      {host === '' ? null : (
        <a class="button" href="#/places">
          All hosts
        </a>
      )}
    </div>
  )
}

function Mentions({ host }: { readonly host: string }): JSX.Element {
  const items = useSignal<readonly PlaceMention[] | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  useLiveRefresh(async () => {
    const answer = await request<MentionList>(`/api/places/mentions${writeQuery({ host, limit: MAX_ON_MAP })}`)
    if ('value' in answer) items.value = answer.value.items
    refusal.value = 'refusal' in answer ? answer.refusal : null
  })
  if (refusal.value !== null) {
    return (
      <p class="field-problem" role="alert">
        {refusal.value.message}
      </p>
    )
  }
  if (items.value === null) return <p class="quiet">Loading …</p>
  if (items.value.length === 0) {
    return (
      <div class="panel empty">
        <p>No page{host === '' ? '' : ` of ${host}`} is known to be about a place.</p>
        <p class="small">
          <code>pharos gazetteer import</code> imports the places of the world; an <a href="#/">analysis</a> finds them
          in the stored pages.
        </p>
      </div>
    )
  }
  return (
    <>
      <WorldMap mentions={items.value} />
      <PlaceTable mentions={items.value} />
    </>
  )
}

function PlaceTable({ mentions }: { readonly mentions: readonly PlaceMention[] }): JSX.Element {
  return (
    <div class="box">
      <table>
        <caption class="small">
          {mentions.length > MAX_IN_TABLE
            ? `The ${MAX_IN_TABLE} places with the most pages, of ${writeNumber(mentions.length)} on the map`
            : countOf(mentions.length, 'place')}
        </caption>
        <thead>
          <tr>
            <th scope="col">Place</th>
            <th scope="col">Kind</th>
            <th scope="col">Country</th>
            <th scope="col" class="number">
              Pages
            </th>
            <th scope="col" class="number">
              Hubs
            </th>
          </tr>
        </thead>
        <tbody>
          {mentions.slice(0, MAX_IN_TABLE).map(({ place, pages, hubs }) => (
            <tr key={place.id}>
              <td class="address">
                <a href={placeHref(place.id)}>{place.name}</a>
              </td>
              <td data-label="Kind">{place.kind}</td>
              <td data-label="Country">{place.countryCode ?? ''}</td>
              <td class="number" data-label="Pages">
                {writeNumber(pages)}
              </td>
              <td class="number" data-label="Hubs">
                {writeNumber(hubs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
