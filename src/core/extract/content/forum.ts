import { INLINE_ELEMENTS } from '../../html/element-names.ts'
import { SelectorMap } from '../../html/selector.ts'
import { Element, type Node } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Metadata } from '../metadata.ts'
import { FORUM_SOFTWARE } from './forum-software.ts'
import type { StatisticsMap } from './statistics.ts'
import { findTitle } from './title.ts'

const STEP = 'forum'

type Part = { readonly forum: string; readonly isBody: boolean }

const PARTS = new SelectorMap<Part>(
  FORUM_SOFTWARE.flatMap(({ name, body, byline }) => [
    [body, { forum: name, isBody: true }] as const,
    ...(byline === undefined ? [] : [[byline, { forum: name, isBody: false }] as const]),
  ]),
)

export interface Thread {
  /** Name of the forum program. */
  readonly forum: string
  readonly elements: Element[]
}

/**
 * Finds the lowest element that contains all posts of a thread, and the title if it precedes that element. Drops everything in the element
 * except the title, the posts, their writers and their dates: no avatars, ranks, signatures, votes. Returns `undefined` if the document is
 * not a thread of a known forum.
 */
export function findThread(
  root: Element,
  statistics: StatisticsMap,
  { types }: Pick<Metadata, 'types'>,
): Thread | undefined {
  const parts = findParts(root)
  const posts = largestForum(parts, statistics)
  if (posts === undefined) return undefined
  const isDeclared = types.some((type) => THREAD_TYPES.has(type))
  const minPostsLength = isDeclared ? 0 : statistics.get(root).textLength * POSTS_SHARE
  if (sumOf(posts.bodies, (body) => statistics.get(body).textLength) < minPostsLength) return undefined
  const [first] = posts.bodies
  const thread = commonAncestor(posts.bodies)
  if (first === undefined || thread === undefined) return undefined
  const title = findTitle(root, first)
  const isTitleInThread = title !== undefined && thread.contains(title)
  removeNonPosts(thread, new Set([...posts.bodies, ...posts.bylines, ...(title === undefined ? [] : [title])]))
  separateBylines(posts.bylines)
  return { forum: posts.forum, elements: title === undefined || isTitleInThread ? [thread] : [title, thread] }
}

/** If posts have a smaller share of the text, they are comments, unless the page declares that it is a thread. */
const POSTS_SHARE = 0.25
const THREAD_TYPES = new Set(['discussionforumposting', 'qapage'])

interface Posts {
  readonly forum: string
  readonly bodies: Element[]
  readonly bylines: Element[]
}

function findParts(root: Element): Map<string, Posts> {
  const parts = new Map<string, Posts>()
  const visit = (element: Element, isInByline: boolean) => {
    if (element.dropped !== undefined) return
    const part = PARTS.match(element)
    if (part !== undefined) {
      const posts = parts.get(part.forum) ?? { forum: part.forum, bodies: [], bylines: [] }
      parts.set(part.forum, posts)
      if (part.isBody) {
        posts.bodies.push(element)
        return
      }
      if (!isInByline) posts.bylines.push(element)
    }
    for (const child of element.children) {
      if (typeof child !== 'string') visit(child, isInByline || part !== undefined)
    }
  }
  visit(root, false)
  return parts
}

function largestForum(parts: ReadonlyMap<string, Posts>, statistics: StatisticsMap): Posts | undefined {
  let best: Posts | undefined
  let bestText = 0
  for (const posts of parts.values()) {
    const text = sumOf(posts.bodies, (body) => statistics.get(body).textLength)
    if (text <= bestText) continue
    best = posts
    bestText = text
  }
  return best
}

function sumOf<T>(list: readonly T[], value: (item: T) => number): number {
  return list.reduce((sum, item) => sum + value(item), 0)
}

/** The lowest element that contains all given elements. */
function commonAncestor(elements: readonly Element[]): Element | undefined {
  const [first, ...others] = elements
  if (first === undefined) return undefined
  let path = [first, ...first.ancestors()].reverse()
  for (const other of others) {
    const otherPath = [other, ...other.ancestors()].reverse()
    let shared = 0
    while (shared < path.length && path[shared] === otherPath[shared]) shared++
    path = path.slice(0, shared)
  }
  return path.at(-1)
}

function removeNonPosts(thread: Element, kept: ReadonlySet<Element>): void {
  const keptAncestors = new Set<Element>()
  for (const element of kept) {
    for (const ancestor of element.ancestors()) {
      if (keptAncestors.has(ancestor)) break
      keptAncestors.add(ancestor)
    }
  }
  const visit = (element: Element) => {
    if (kept.has(element)) return
    if (!keptAncestors.has(element)) {
      drop(element, STEP, 'furniture of posts')
      return
    }
    for (const child of element.elements()) visit(child)
  }
  visit(thread)
}

/** Puts writers and dates on lines of their own, because only style sheets separate them. */
function separateBylines(bylines: readonly Element[]): void {
  const inlineBylines = new Set<Node>(bylines.filter(({ name }) => INLINE_ELEMENTS.has(name)))
  const parents = new Set(bylines.flatMap(({ parent }) => (parent === undefined ? [] : [parent])))
  for (const parent of parents) {
    parent.children = parent.children.map((child) => {
      if (!inlineBylines.has(child)) return child
      const line = new Element('div')
      line.parent = parent
      line.append(child)
      return line
    })
  }
}
