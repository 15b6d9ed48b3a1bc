import { urlKey } from '../core/url/key.ts'

/** Whatever an address may be known by: itself, and its key by the rules of any source. */
export function listKeysOf(url: string): readonly string[] {
  const keys = [false, true].flatMap((keepsQuery) =>
    [false, true].flatMap((keepsSession) => urlKey(url, { keepsQuery, keepsSession }) ?? []),
  )
  return [...new Set([url, ...keys])]
}

/** Whether a host is the one that is asked for or, where that is wanted, one below it. */
export function isHostOf(host: string, asked: string, includeSubdomains = false): boolean {
  const wanted = asked.toLowerCase()
  return host === wanted || (includeSubdomains && host.endsWith(`.${wanted}`))
}
