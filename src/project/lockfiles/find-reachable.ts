/** All nodes that can be reached from some of them. Cycles are allowed. */
export function findReachable<Node>(from: Iterable<Node>, next: (node: Node) => Iterable<Node>): Set<Node> {
  const reached = new Set(from)
  // A set visits the nodes that are added during the loop.
  for (const node of reached) for (const target of next(node)) reached.add(target)
  return reached
}
