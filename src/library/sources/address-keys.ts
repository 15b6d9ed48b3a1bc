import { urlKey } from '../../core/url/key.ts'

/** Lists every form an address may be stored under: the address itself and its key under each combination of query and session rules. */
export function listKeysOf(url: string): readonly string[] {
  const keys = [false, true].flatMap((keepsQuery) =>
    [false, true].flatMap((keepsSession) => urlKey(url, { keepsQuery, keepsSession }) ?? []),
  )
  return [...new Set([url, ...keys])]
}

/** Returns true when `host` equals `requestedHost` or, with `includeSubdomains`, is a subdomain of it. */
export function isHostOf(host: string, requestedHost: string, includeSubdomains = false): boolean {
  const requested = requestedHost.toLowerCase()
  return host === requested || (includeSubdomains && host.endsWith(`.${requested}`))
}
