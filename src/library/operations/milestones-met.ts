import type { Library } from '../library.ts'

/** Which of some milestones a host has reached, in whatever job, and which it has not; both in the order in which they were asked for. */
export async function milestonesMet(
  { jobLog }: Pick<Library, 'jobLog'>,
  host: string,
  kinds: readonly string[],
): Promise<{ readonly met: readonly string[]; readonly unmet: readonly string[] }> {
  const met = new Set<string>()
  for (const kind of new Set(kinds)) {
    const [found] = (await jobLog?.listMilestones({ scope: host, kind, limit: 1 })) ?? []
    if (found !== undefined) met.add(kind)
  }
  return { met: kinds.filter((kind) => met.has(kind)), unmet: kinds.filter((kind) => !met.has(kind)) }
}
