import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Namespace } from 'kubernetes-models/v1/Namespace'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import { parseAllDocuments } from 'yaml'

/** A Kubernetes manifest. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec?: unknown
}

/** The kinds in use: each validates itself by the schema that Kubernetes publishes. */
const KINDS = [
  ConfigMap,
  Deployment,
  Namespace,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
  StatefulSet,
] as const

const root = join(import.meta.dirname, '../..')

/** The manifests of a folder. */
export function readManifests(folder: string): Manifest[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  return files.sort().flatMap((name) =>
    parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map((document) => {
      const [error] = document.errors ?? []
      if (error !== undefined) throw error
      // The schemas check the shape later.
      return document.toJS() as Manifest
    }),
  )
}

/** Fields of a manifest that are missing or have the wrong type. */
export function findFaults(manifest: Manifest): string[] {
  const Kind = KINDS.find(({ apiVersion, kind }) => apiVersion === manifest.apiVersion && kind === manifest.kind)
  if (Kind === undefined) return [`there is no ${manifest.apiVersion} ${manifest.kind} among the kinds that are used`]
  try {
    // The error describes the mismatch.
    new Kind(manifest as never).validate()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/**
 * Fields that Kubernetes does not know. The schemas accept them, as Kubernetes does unless it validates strictly; the TypeScript types
 * refuse them in a literal.
 */
export function findUnknownFields(manifests: readonly Manifest[]): string[] {
  const folder = mkdtempSync(join(root, 'node_modules/.cache-deploy-'))
  try {
    const file = join(folder, 'manifests.ts')
    const typeOf = ({ apiVersion, kind }: Manifest) => `import('kubernetes-models/${apiVersion}/${kind}').I${kind}`
    const lines = manifests.map((manifest) => `(${JSON.stringify(manifest)}) satisfies ${typeOf(manifest)}`)
    writeFileSync(file, `${lines.join('\n;')}\nexport {}\n`)
    const flags = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '']
    const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...flags, file], {
      encoding: 'utf8',
    })
    return stdout.split('\n').filter((line) => line.includes('error'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
