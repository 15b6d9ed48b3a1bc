/** The slope of the line that fits points best, by least squares, and its standard error. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): { slope: number; error: number } {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const x = mean(points.map(([at]) => at))
  const y = mean(points.map(([, value]) => value))
  const [numerator, denominator] = points.reduce(
    ([a, b], [at, value]) => [a + (at - x) * (value - y), b + (at - x) ** 2],
    [0, 0],
  )
  const slope = numerator / denominator
  const squaredErrors = points.reduce((sum, [at, value]) => sum + (value - y - slope * (at - x)) ** 2, 0)
  return { slope, error: Math.sqrt(squaredErrors / (points.length - 2) / denominator) }
}
