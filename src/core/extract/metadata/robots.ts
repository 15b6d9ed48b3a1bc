import type { PageRobots } from '../../model.ts'

/** The robots directives of a page, from its `<meta>` and its `X-Robots-Tag` header. */
export function readRobots(meta: readonly string[], header: string): PageRobots {
  const words = new Set(
    [...meta, directivesForAllRobots(header)].flatMap((list) => list.toLowerCase().split(/[\s,;]+/)),
  )
  const isNone = words.has('none')
  return { index: !isNone && !words.has('noindex'), follow: !isNone && !words.has('nofollow') }
}

/** Directives with a value after a colon. Any other word before a colon is the name of a robot. */
const WITH_VALUE = /^(?:unavailable_after|max-snippet|max-image-preview|max-video-preview)$/i

/** The directives of a header for all robots: `googlebot: noindex, nofollow` has none. */
function directivesForAllRobots(header: string): string {
  let isForAll = true
  const directives = header.split(',').filter((part) => {
    const [, name = ''] = /^\s*([\w-]+)\s*:/.exec(part) ?? []
    if (name !== '' && !WITH_VALUE.test(name)) isForAll = false
    return isForAll
  })
  return directives.join(',')
}
