import { find } from '../html/selector.ts'
import type { Element } from '../html/tree.ts'
import { findContainer, findKnown, findMain } from './content/container.ts'
import { findThread } from './content/forum.ts'
import { kindOf } from './content/kind.ts'
import { countStatistics } from './content/statistics.ts'
import type { Generator } from './generators/generator.ts'
import type { Metadata } from './metadata.ts'
import { removeBylines } from './remove/bylines.ts'
import { removeComments } from './remove/comments.ts'
import { removeReviews } from './remove/reviews.ts'
import { removeTeasers } from './remove/teasers.ts'
import { removeThumbnails } from './remove/thumbnails.ts'

/** The elements that hold the content of a document, in its order; none is in another. */
export function findContent(root: Element, generator: Generator | undefined, metadata: Metadata): Element[] {
  const body = find(root, (element) => element.name === 'body') ?? root
  const all = countStatistics(body)
  const thread = findThread(body, all)
  if (thread !== undefined) return [thread]
  const kind = kindOf(metadata, all.get(findMain(body, all)))
  removeComments(body)
  if (kind === 'product') removeReviews(body)
  const statistics = countStatistics(body)
  const container = findKnown(body, statistics, generator) ?? findContainer(body, statistics, kind)
  if (kind !== 'listing') removeBylines(container)
  if (kind === 'product' || kind === 'article') removeTeasers(container)
  removeThumbnails(container, metadata.title)
  return [container]
}
