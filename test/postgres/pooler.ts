import { connect, type Socket } from 'node:net'
import { openSocketProxy } from './socket-proxy.ts'

/** Messages of a server when a connection is ready (Protocol 3.0): authenticated, the session key, ready. */
const AUTHENTICATED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0])
const MADE_UP_SESSION = Buffer.from([0x4b, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1])
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** A session of the server, and the connection it is given to. */
interface Session {
  readonly socket: Socket
  client: Socket | undefined
}

/**
 * Opens a pooler in front of the server at an address, and returns the address of the pooler. Each transaction gets the least recently used
 * session; PgBouncer would assign the most recently used one. It closes with the test.
 */
export async function openRotatingPooler(address: string): Promise<string> {
  const free: Session[] = []
  const proxy = await openSocketProxy(address, (client, { sockets, server }) => {
    const keep = (socket: Socket) => {
      sockets.add(socket)
      return socket.on('error', () => undefined)
    }
    let session: Session | undefined
    keep(client)
    client.once('data', (startup) => {
      client.write(Buffer.concat([AUTHENTICATED, MADE_UP_SESSION, READY]))
      client.on('data', async (data) => {
        session ??= free.shift() ?? (await openSession(keep(connect(server)), startup, forward))
        session.client = client
        session.socket.write(data)
      })
    })
    const forward = (from: Session, data: Buffer) => {
      from.client?.write(data)
      if (!data.subarray(-READY.length).equals(READY)) return
      from.client?.emit('idle')
      free.push(from)
    }
    client.on('idle', () => {
      session = undefined
    })
    client.on('close', () => session?.socket.destroy())
  })
  return proxy.address
}

/** Opens a session with the startup message of a client, and forwards the server's responses once the session is ready. */
async function openSession(
  socket: Socket,
  startup: Buffer,
  forward: (from: Session, data: Buffer) => void,
): Promise<Session> {
  const session: Session = { socket, client: undefined }
  socket.write(startup)
  await new Promise<void>((resolve) => {
    const onData = (data: Buffer) => {
      if (!data.subarray(-READY.length).equals(READY)) return
      socket.off('data', onData)
      resolve()
    }
    socket.on('data', onData)
  })
  socket.on('data', (data) => forward(session, data))
  return session
}
