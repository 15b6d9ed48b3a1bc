import { LineMap } from './text/line-map.ts'

/** A line of a text that looks like it has a credential. The value itself is never stored. */
export interface SecretFinding {
  readonly what: string
  readonly line: number
  /** Whether the text has a form that examples and tests have too, such as a field with a password. */
  readonly isDoubtful: boolean
}

interface SecretPattern {
  readonly what: string
  /** @default false */
  readonly isDoubtful?: true
  readonly pattern: RegExp
}

/** Every repetition is bounded or ends its pattern, so each pattern runs in linear time. */
const PATTERNS: readonly SecretPattern[] = [
  { what: 'an AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { what: 'a private key', pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/g },
  { what: 'a GitHub token', pattern: /\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{50,90})\b/g },
  { what: 'a Slack token', pattern: /\bxox[abprs]-[0-9A-Za-z-]{10,80}/g },
  { what: 'a Google API key', pattern: /\bAIza[0-9A-Za-z_-]{35}\b/g },
  { what: 'an API key', pattern: /\b(?:sk|rk|pk)[-_](?:live|test|ant|proj)[-_][0-9A-Za-z_-]{16,200}/g },
  { what: 'an API key', pattern: /\bsk-[0-9A-Za-z]{32,200}\b/g },
  { what: 'a GitLab token', pattern: /\bglpat-[0-9A-Za-z_-]{20,64}/g },
  {
    what: 'a JSON web token',
    isDoubtful: true,
    pattern: /\beyJ[0-9A-Za-z_-]{10,2000}\.[0-9A-Za-z_-]{10,2000}\.[0-9A-Za-z_-]{10,2000}/g,
  },
  { what: 'an npm token', pattern: /\bnpm_[0-9A-Za-z]{36}\b/g },
  { what: 'a bearer token', isDoubtful: true, pattern: /\bbearer\s{1,4}[0-9A-Za-z._~+/-]{20,2000}=*/gi },
  {
    what: 'an authorization header',
    isDoubtful: true,
    pattern: /\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:basic|token)\s{1,4}[0-9A-Za-z+/_-]{8,2000}=*/gi,
  },
  {
    what: 'a password or key',
    isDoubtful: true,
    pattern:
      /\b[\w-]{0,40}(?:passw(?:or)?d|secret|token|api[_-]?key)[\w-]{0,40}["']?\s{0,4}[:=]\s{0,4}["'][^"'\s]{8,200}["']/gi,
  },
  {
    // A whole line as in `.env`, `.properties` and YAML files; without a digit it is more often code.
    what: 'a password or key',
    isDoubtful: true,
    pattern:
      /^[\t ]{0,8}(?:export )?[\w.-]{0,40}(?:passw(?:or)?d|secret|token|api[_-]?key)[\w.-]{0,40}[\t ]{0,4}[:=][\t ]{0,4}(?=[^\d\s]{0,200}\d)[^\s"'(){}<>[\]$;,]{8,200}$/gim,
  },
  {
    what: 'a password in a URL',
    isDoubtful: true,
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'<>]{1,80}:[^\s:@/"'<>]{3,80}@/gi,
  },
]

/** Placeholders for secrets. */
const PLACEHOLDER =
  /example|placeholder|changeme|your[-_ ]|xxxx|\.\.\.|<[^>]{1,40}>|\$\{|\{\{|process\.env|os\.environ/i

/** A few findings are enough to recognize a file of keys; all of them would only hide the other warnings. */
const MAX_FINDINGS = 20

/** Finds likely credentials, one finding for each kind and line, in line order; at most twenty. */
export function findSecrets(text: string): SecretFinding[] {
  const found = new Map<string, SecretFinding & { readonly index: number }>()
  let lines: LineMap | undefined
  for (const { what, isDoubtful = false, pattern } of PATTERNS) {
    let count = 0
    for (const match of text.matchAll(pattern)) {
      if (PLACEHOLDER.test(match[0])) continue
      if (++count > MAX_FINDINGS) break
      lines ??= new LineMap(text)
      const line = lines.lineAt(match.index)
      const key = `${line} ${what}`
      if (!found.has(key)) found.set(key, { what, line, isDoubtful, index: match.index })
    }
  }
  const sorted = [...found.values()].sort((a, b) => a.index - b.index).slice(0, MAX_FINDINGS)
  return sorted.map(({ index, ...finding }) => finding)
}

/** Describes a finding without the credential itself. */
export function describeSecret({ what, line }: SecretFinding): string {
  return `line ${line} looks like ${what}`
}

/** Files that exist to hold credentials. */
const CREDENTIAL_FILE =
  /(?:^|\/)(?:\.env(?:\..*)?|[._]netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|\.htpasswd|\.aws\/credentials|\.docker\/config\.json|\.kube\/config|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]*\.(?:pem|key|p12|pfx|jks))$/i
/** Suffixes of example files that only show which credentials are needed. */
const CREDENTIAL_EXAMPLE = /\.(?:example|sample|template|dist)$/i

/** Whether a file exists to hold credentials, by its name. */
export function isCredentialFile(path: string): boolean {
  return CREDENTIAL_FILE.test(path) && !CREDENTIAL_EXAMPLE.test(path)
}

/** Names of fields whose values are secret. */
export const SECRET_FIELD: RegExp = /token|secret|passw|api_?-?key|authorization|session|credential/i

/** Replaces the values of secret fields in the queries of all addresses of a text. */
export function maskSecretFields(text: string): string {
  return text.replace(/([?&]([^\s=&?#]{1,100})=)[^\s&#"'`]+/g, (whole, head: string, name: string) =>
    SECRET_FIELD.test(name) ? `${head}***` : whole,
  )
}

/** Replaces likely credentials, for logs and error messages. */
export function redactSecrets(text: string): string {
  return PATTERNS.reduce((redacted, { pattern }) => redacted.replace(pattern, '[redacted]'), text)
}
