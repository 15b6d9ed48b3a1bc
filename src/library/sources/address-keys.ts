import { urlKey } from '../../core/url/key.ts'

/** Lists every form an address may be stored under: the address itself and its key under each combination of query and session rules. */
export function listKeysOf(url: string): readonly string[] {
  const keys = [false, true].flatMap((keepsQuery) =>
    [false, true].flatMap((keepsSession) => urlKey(url, { keepsQuery, keepsSession }) ?? []),
  )
  return [...new Set([url, ...keys])]
}
