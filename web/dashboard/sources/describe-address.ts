import { readPastedAddress } from '../../../src/core/url/pasted-address.ts'
import { LOCAL_PATH, readUrl } from '../home/crawl-form.ts'

/** What a typed address is: a folder cannot be added from here. */
export interface AddressMeaning {
  readonly isFolder: boolean
  /** A phrase, such as `web site docs.example, the pages below /guide/`; empty if the address cannot be understood. */
  readonly words: string
}

const REGISTRIES: Readonly<Record<string, string>> = {
  npm: 'npm',
  pypi: 'PyPI',
  crates: 'crates.io',
  cargo: 'crates.io',
  maven: 'Maven',
  pkg: 'its registry',
}

/** Describes what an address was understood as. */
export function describeAddress(text: string): AddressMeaning {
  const trimmed = text.trim()
  if (LOCAL_PATH.test(trimmed)) return { isFolder: true, words: 'folder of a machine' }
  const { meaning } = readPastedAddress(trimmed)
  if (meaning !== undefined) return { isFolder: false, words: meaning }
  return { isFolder: false, words: trimmed === '' ? '' : describeKind(trimmed) }
}

function describeKind(text: string): string {
  const { registry = '', name = '' } = /^(?<registry>\w+):(?!\/)(?<name>.+)$/.exec(text)?.groups ?? {}
  const registryName = REGISTRIES[registry.toLowerCase()]
  if (registryName !== undefined) return `package ${name} from ${registryName}`
  if (/^(?:git[+@:]|ssh:)|\.git\/?$/i.test(text)) return 'git repository'
  if (/\.(?:zip|tar|tgz|tar\.(?:gz|zst))$/i.test(text)) return 'archive of files'
  if (/^[\w-]+\/[\w.-]+$/.test(text)) return `repository github.com/${text}`
  const url = URL.parse(readUrl(text) ?? '')
  if (url === null || !/[.:]|^localhost$/.test(url.host)) return ''
  const folder = url.pathname.replace(/(?<![^/])[^/]*$/, '')
  return `web site ${url.host}${folder === '/' ? '' : `, the pages below ${folder}`}`
}
