import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'

/**
 * Reports why tests that passed had to be retried, and writes the list of failed files for a later retry. It writes no list after an error
 * outside of all tests, because such an error belongs to no file.
 */
export default class ReportRetries implements Reporter {
  #root = ''

  onInit({ config }: Vitest): void {
    this.#root = config.root
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    for (const module of modules) this.#reportRetries(module)
    const path = process.env['TEST_FAILED_FILES']
    if (path === undefined || unhandled.length > 0) return
    const failed = modules.filter((module) => !module.ok()).map(({ moduleId }) => relative(this.#root, moduleId))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(failed))
  }

  #reportRetries(module: TestModule): void {
    for (const test of module.children.allTests('passed')) {
      const [first] = test.result().errors ?? []
      if (first === undefined) continue
      console.log(`retried: ${relative(this.#root, module.moduleId)} > ${test.fullName}`)
      const [stack = first.message] = (first.stack ?? first.message).split(/\n.*node_modules/)
      console.log(`  ${stack.replaceAll('\n', '\n  ')}`)
    }
  }
}
