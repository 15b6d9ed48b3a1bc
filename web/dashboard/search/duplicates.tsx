import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import type { DuplicateGroup, DuplicateList } from '../api.ts'
import { PageLink } from '../external-link.tsx'
import { RefusalNote } from '../refusal-note.tsx'
import { writeQuery } from '../request.ts'
import { replaceQuery, route } from '../route.ts'
import { useAnswer } from '../use-answer.ts'

/** Groups per page. */
const GROUPS_PER_PAGE = 20

/** Groups of near-duplicates and translations, of which a search shows one page each. */
export function Duplicates(): JSX.Element {
  const { query } = route.value
  const source = query.get('source') ?? ''
  const offset = Math.max(0, Math.trunc(Number(query.get('offset') ?? 0)) || 0)
  const path = `/api/duplicates${writeQuery({ source, offset, limit: GROUPS_PER_PAGE })}`
  const { value: list, refusal } = useAnswer<DuplicateList>(path)
  return (
    <>
      <div class="head">
        <h1>Duplicates{source === '' ? '' : ` in ${source}`}</h1>
      </div>
      <p class="quiet small">
        Pages with nearly the same content, and translations. A search shows one page of each group.
      </p>
      <RefusalNote refusal={refusal} />
      {list !== null ? (
        <Groups list={list} offset={offset} />
      ) : (
        refusal === null && <p class="quiet">Comparing all pages…</p>
      )}
    </>
  )
}

function Groups({ list, offset }: { readonly list: DuplicateList; readonly offset: number }): JSX.Element {
  const { groups, groupCount, pageCount, compared, unknown } = list
  const go = (to: number) => replaceQuery({ offset: to === 0 ? '' : String(to) })
  return (
    <>
      <p class="quiet small" aria-live="polite">
        {groupCount === 0
          ? compared === 0
            ? 'There are no pages to compare yet.'
            : `No duplicates among ${countOf(compared, 'page')}`
          : `${countOf(groupCount, 'group')} of ${countOf(pageCount, 'page')} among ${countOf(compared, 'page')}`}
        {unknown === 0 ? '' : `; ${countOf(unknown, 'page')} cannot be compared until read again`}
      </p>
      {groups.map((group) => (
        <Group key={group.pages[0]?.url ?? ''} group={group} />
      ))}
      {groupCount <= GROUPS_PER_PAGE && offset === 0 ? null : (
        <p class="more">
          <button type="button" disabled={offset === 0} onClick={() => go(Math.max(0, offset - GROUPS_PER_PAGE))}>
            Previous
          </button>{' '}
          <button
            type="button"
            disabled={offset + groups.length >= groupCount}
            onClick={() => go(offset + GROUPS_PER_PAGE)}
          >
            Next
          </button>
        </p>
      )}
    </>
  )
}

function Group({ group: { count, pages } }: { readonly group: DuplicateGroup }): JSX.Element {
  return (
    <section class="panel duplicates" aria-label={pages[0]?.title ?? ''}>
      <h2>
        {pages[0]?.title} <span class="quiet">{count}</span>
      </h2>
      <ul>
        {pages.map(({ url, source, sourceId, language }) => (
          <li key={sourceId + url}>
            <PageLink url={url} source={sourceId} />
            <span class="quiet small">
              {' '}
              <a href={`#/sources/${encodeURIComponent(sourceId)}`}>{source}</a>
              {language === null ? '' : `, ${language}`}
            </span>
          </li>
        ))}
      </ul>
      {count > pages.length ? <p class="quiet small">and {countOf(count - pages.length, 'more page')}</p> : null}
    </section>
  )
}
