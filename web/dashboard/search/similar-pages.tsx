import type { JSX } from 'preact'
import type { SimilarItem } from '../api.ts'
import { PageLink } from '../external-link.tsx'

/** The near-duplicates that a page represents, with their versions and languages. */
export function SimilarPages({
  similar = [],
}: {
  readonly similar?: readonly SimilarItem[] | undefined
}): JSX.Element | null {
  if (similar.length === 0) return null
  return (
    <p class="similar quiet small">
      also{' '}
      {similar.map(({ url, source, language, isTranslation }) => (
        <PageLink
          key={source + url}
          url={url}
          source={source}
          words={isTranslation && language !== null ? `${source}, ${language}` : source}
        />
      ))}
    </p>
  )
}
