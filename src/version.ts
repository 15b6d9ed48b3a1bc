import { readFileSync } from 'node:fs'

/** The fields of package.json that the program uses. */
interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly engines: { readonly node: string }
}

// package.json always has these fields.
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as PackageManifest

/** The version of this installation. */
export const VERSION: string = manifest.version

/** The name under which npm knows this package. */
export const PACKAGE_NAME: string = manifest.name

/** The oldest version of Node that runs this program: `22.19`. */
export const MIN_NODE_VERSION: string = manifest.engines.node.replace('>=', '')
