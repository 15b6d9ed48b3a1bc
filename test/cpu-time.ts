/** How many milliseconds some work keeps this process busy, whatever else the machine is doing meanwhile. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
