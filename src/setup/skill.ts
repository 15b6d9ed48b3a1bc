import { readFileSync } from 'node:fs'

/** The skill that tells an agent when to ask Pharos, and how. */
export function readSkill(): string {
  return readFileSync(new URL('../../plugin/skills/pharos/SKILL.md', import.meta.url), 'utf8')
}
