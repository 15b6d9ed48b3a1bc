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
  loseCommitResponse(awayMs?: number): void
  /** Cuts the connection before the server gets the COMMIT. */
  loseBeforeCommit(): void
  /** Cuts the connection before the server gets the COMMIT, and the server does not notice the disconnect. */
  abandonBeforeCommit(): void
  /** Drops all data on open connections without closing them. */
  dropAllData(): void
  /** Number of COMMITs that were lost. */
  lost(): number
}

/** The message with which a client commits: a simple query with its length. */
const COMMIT = Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, 11]), Buffer.from('COMMIT\0')])

/** Opens a proxy to the server at an address. It closes with the test. */
export async function openLossyProxy(address: string): Promise<LossyProxy> {
  let losing: 'answer' | 'question' | 'both' | undefined
  let lost = 0
  let awayMs = 0
  let isAway = false
  const goAway = (sockets: ReadonlySet<Socket>) => {
    isAway = true
    for (const socket of sockets) socket.destroy()
    setTimeout(() => {
      isAway = false
    }, awayMs)
  }
  const silent = new WeakSet<Socket>()
  const beside = await openSocketProxy(address, (near, { sockets, server }) => {
    if (isAway) {
      near.destroy()
      return
    }
    const far = connect(server)
    const cut = () => {
      near.destroy()
      far.destroy()
    }
    const lose = () => {
      lost++
      cut()
      if (awayMs > 0) goAway(sockets)
    }
    let isCut = false
    near.on('data', (data) => {
      if (silent.has(near)) return
      const isCommit = data.includes(COMMIT)
      const what = isCommit ? losing : undefined
      if (isCommit) losing = undefined
      isCut = what === 'answer'
      if (what === 'question') lose()
      else if (what === 'both') {
        lost++
        near.off('close', cut).destroy()
      } else far.write(data)
    })
    far.on('data', (data) => {
      if (silent.has(near)) return
      if (isCut) lose()
      else near.write(data)
    })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', cut).on('close', cut)
    }
  })
  return {
    address: beside.address,
    loseCommitResponse: (ms = 0) => {
      losing = 'answer'
      awayMs = ms
    },
    loseBeforeCommit: () => {
      losing = 'question'
    },
    abandonBeforeCommit: () => {
      losing = 'both'
    },
    dropAllData: () => {
      for (const socket of beside.sockets) silent.add(socket)
    },
    lost: () => lost,
  }
}
