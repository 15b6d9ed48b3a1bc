// The types of the package are those of its front door.
declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici'

  export default errors
}

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'

  export default Agent
}
