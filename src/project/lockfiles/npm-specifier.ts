import { valid } from 'semver'
import { FROM_FOLDER, FROM_GIT, FROM_URL } from './origins.ts'

/** What a dependency of a `package.json` asks for. */
export type NpmSpecifier =
  /** A package of the registry. Its name differs from the name of the dependency if that is an alias. The range may be in a catalog. */
  | { readonly kind: 'registry'; readonly name: string; readonly range: string | undefined }
  /** A member of the workspace. */
  | { readonly kind: 'workspace' }
  | { readonly kind: 'elsewhere'; readonly reason: string }

/** Parses the specifier of a dependency as npm, pnpm, Yarn and Bun understand it. */
export function parseNpmSpecifier(name: string, specifier: string): NpmSpecifier {
  const [, protocol = '', rest = ''] = /^([a-z][a-z+]*):(.*)$/is.exec(specifier) ?? []
  switch (protocol.toLowerCase()) {
    case '':
      return parsePlain(name, specifier)
    case 'npm':
      return parseAlias(name, rest)
    case 'workspace':
      return { kind: 'workspace' }
    case 'catalog':
      return { kind: 'registry', name, range: undefined }
    case 'patch':
      return parsePatch(name, rest)
    case 'file':
    case 'link':
    case 'portal':
      return { kind: 'elsewhere', reason: FROM_FOLDER }
    case 'http':
    case 'https':
      return { kind: 'elsewhere', reason: /\.git(?:#|$)/.test(rest) ? FROM_GIT : FROM_URL }
    case 'github':
    case 'gitlab':
    case 'bitbucket':
    case 'gist':
      return { kind: 'elsewhere', reason: FROM_GIT }
    default:
      return {
        kind: 'elsewhere',
        reason: /^(?:git|ssh)/i.test(protocol) ? FROM_GIT : `it comes from ${protocol}:, not from the npm registry`,
      }
  }
}

/** The exact version that a range allows; null if it allows several. */
export function exactNpmVersion(range: string | undefined): string | null {
  return range === undefined ? null : valid(range.replace(/^=/, ''))
}

/** A specifier without a protocol: a range, a tag, a path, or `owner/repository`. */
function parsePlain(name: string, specifier: string): NpmSpecifier {
  if (/^(?:\.{0,2}\/|~\/|[a-z]:[\\/]|\.{1,2}$)/i.test(specifier) || /\.(?:tgz|tar\.gz|tar)$/i.test(specifier)) {
    return { kind: 'elsewhere', reason: FROM_FOLDER }
  }
  if (/^[^\s@:/]+\/[^\s:/]+$|^[^\s@]+@[^\s:]+:/.test(specifier)) return { kind: 'elsewhere', reason: FROM_GIT }
  return { kind: 'registry', name, range: specifier.trim() || '*' }
}

/** `bar@^1.0.0`, `@scope/bar`, or only `^1.0.0` after `npm:`. */
function parseAlias(name: string, text: string): NpmSpecifier {
  const [, target = '', range] = /^((?:@[^/@]+\/)?[^@]+)(?:@(.*))?$/s.exec(text) ?? []
  const isRange = range === undefined && /^[\d^~<>=*xv|\s]|^latest$/i.test(target)
  if (isRange || target === '') return { kind: 'registry', name, range: text || '*' }
  return { kind: 'registry', name: target, range: range ?? '*' }
}

/** `name@npm%3A^1.0.0#patches/name.patch`: the package that is patched. */
function parsePatch(name: string, text: string): NpmSpecifier {
  const [, inner = ''] = /^(?:@[^@]+|[^@]+)@([^#]*)/.exec(text) ?? []
  const specifier = inner.replace(/%3A/gi, ':').replace(/%40/g, '@').replace(/%2F/gi, '/')
  // A patch of a patch adds no other package.
  return specifier === '' || specifier.startsWith('patch:')
    ? { kind: 'registry', name, range: undefined }
    : parseNpmSpecifier(name, specifier)
}
