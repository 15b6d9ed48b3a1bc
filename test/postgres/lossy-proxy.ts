import { connect, type Socket } from 'node:net'
import { openSocketProxy } from './socket-proxy.ts'

/** A proxy to a PostgreSQL server that can lose data. */
export interface LossyProxy {
  /** The address of the database through the proxy. */
  readonly address: string
  /**
   * Cuts the connection of the next COMMIT after the server has executed it and before the client gets the response. The server stays
   * unreachable for the given time in milliseconds.
   */
  loseCommitResponse(unreachableMs?: number): void
  /** Cuts the connection before the server gets the COMMIT. */
  loseBeforeCommit(): void
  /** Cuts the connection before the server gets the COMMIT, and the server does not notice the disconnect. */
  abandonBeforeCommit(): void
  /** Drops all data on open connections without closing them. */
  dropAllData(): void
  /** Number of COMMITs that were lost, or whose response was lost. */
  lost(): number
}

/** The message with which a client commits: a simple query with its length. */
const COMMIT = Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, 11]), Buffer.from('COMMIT\0')])

/** Opens a proxy to the server at an address. It closes with the test. */
export async function openLossyProxy(address: string): Promise<LossyProxy> {
  let losing: 'response' | 'commit' | 'silently' | undefined
  let lost = 0
  let unreachableMs = 0
  let isUnreachable = false
  const becomeUnreachable = (sockets: ReadonlySet<Socket>) => {
    isUnreachable = true
    for (const socket of sockets) socket.destroy()
    setTimeout(() => {
      isUnreachable = false
    }, unreachableMs)
  }
  const silenced = new WeakSet<Socket>()
  const proxy = await openSocketProxy(address, (client, { sockets, server }) => {
    if (isUnreachable) {
      client.destroy()
      return
    }
    const upstream = connect(server)
    const cut = () => {
      client.destroy()
      upstream.destroy()
    }
    const lose = () => {
      lost++
      cut()
      if (unreachableMs > 0) becomeUnreachable(sockets)
    }
    let losesResponse = false
    client.on('data', (data) => {
      if (silenced.has(client)) return
      const isCommit = data.includes(COMMIT)
      const loss = isCommit ? losing : undefined
      if (isCommit) losing = undefined
      losesResponse = loss === 'response'
      if (loss === 'commit') lose()
      else if (loss === 'silently') {
        lost++
        client.off('close', cut).destroy()
      } else upstream.write(data)
    })
    upstream.on('data', (data) => {
      if (silenced.has(client)) return
      if (losesResponse) lose()
      else client.write(data)
    })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', cut).on('close', cut)
    }
  })
  return {
    address: proxy.address,
    loseCommitResponse: (ms = 0) => {
      losing = 'response'
      unreachableMs = ms
    },
    loseBeforeCommit: () => {
      losing = 'commit'
    },
    abandonBeforeCommit: () => {
      losing = 'silently'
    },
    dropAllData: () => {
      for (const socket of proxy.sockets) silenced.add(socket)
    },
    lost: () => lost,
  }
}
