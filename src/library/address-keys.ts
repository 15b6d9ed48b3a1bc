import { urlKey } from '../core/url/key.ts'

/** Lists every form an address may be stored under: the address itself and its key under each combination of query and session rules. */
export function listKeysOf(url: string): readonly string[] {
  const keys = [false, true].flatMap((keepsQuery) =>
    [false, true].flatMap((keepsSession) => urlKey(url, { keepsQuery, keepsSession }) ?? []),
  )
  return [...new Set([url, ...keys])]
}

/** Returns true when `host` equals the requested host or, with `includeSubdomains`, is a subdomain of it. */
export function isHostOf(host: string, asked: string, includeSubdomains = false): boolean {
  const wanted = asked.toLowerCase()
  return host === wanted || (includeSubdomains && host.endsWith(`.${wanted}`))
}
