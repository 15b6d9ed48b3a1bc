/** The digest of a file. */
export interface Integrity {
  readonly algorithm: 'sha512' | 'sha384' | 'sha256' | 'sha1'
  /** In hexadecimal. */
  readonly digest: string
}

/** Digest algorithms with their number of hexadecimal digits, strongest first. */
const DIGEST_LENGTHS = { sha512: 128, sha384: 96, sha256: 64, sha1: 40 } as const

const ALGORITHMS = Object.keys(DIGEST_LENGTHS) as readonly Integrity['algorithm'][]

/** The digests of the strongest algorithm in `sha512-<base64>`, separated by spaces (https://www.w3.org/TR/SRI/). */
export function parseSri(text: string | undefined): Integrity[] {
  const parts = (text ?? '').split(/\s+/)
  for (const algorithm of ALGORITHMS) {
    const found = parts.filter((part) => part.startsWith(`${algorithm}-`))
    if (found.length > 0)
      return found.flatMap((part) => {
        const [base64 = ''] = part.slice(algorithm.length + 1).split('?')
        return parseDigest(algorithm, decodeBase64(base64)) ?? []
      })
  }
  return []
}

/** A digest in hexadecimal; undefined if it does not have the length that its algorithm gives. */
export function parseDigest(algorithm: Integrity['algorithm'], text: string | undefined): Integrity | undefined {
  const digest = text?.toLowerCase() ?? ''
  const isDigest = digest.length === DIGEST_LENGTHS[algorithm] && /^[0-9a-f]+$/.test(digest)
  return isDigest ? { algorithm, digest } : undefined
}

/** A digest as Python tools write it: `sha256:<hexadecimal>`. Undefined for other algorithms. */
export function parseNamedDigest(text: string): Integrity | undefined {
  const [name, digest] = text.split(':')
  const algorithm = ALGORITHMS.find((one) => one === name)
  return algorithm === undefined ? undefined : parseDigest(algorithm, digest)
}

/** Writes a digest as `sha256-<hexadecimal>`. */
export function writeIntegrity({ algorithm, digest }: Integrity): string {
  return `${algorithm}-${digest}`
}

/** The digests of the strongest algorithm among several, each as {@link writeIntegrity} writes it. */
export function listStrongest(hashes: readonly string[]): {
  readonly algorithm: Integrity['algorithm'] | undefined
  readonly hashes: readonly string[]
} {
  const algorithm = ALGORITHMS.find((one) => hashes.some((hash) => hash.startsWith(`${one}-`)))
  return { algorithm, hashes: hashes.filter((hash) => hash.startsWith(`${algorithm}-`)) }
}

/** Whether a digest is one of several; undefined if these have none of its algorithm. */
export function isListed(hash: string, hashes: readonly string[]): boolean | undefined {
  const comparable = hashes.filter((one) => one.split('-')[0] === hash.split('-')[0])
  return comparable.length === 0 ? undefined : comparable.includes(hash)
}

function decodeBase64(text: string): string | undefined {
  try {
    return Array.from(atob(text), (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}
