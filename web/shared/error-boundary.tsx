import type { ComponentChildren, JSX } from 'preact'
import { useErrorBoundary } from 'preact/hooks'

/** An error boundary: shows the error of a component and keeps the rest of the page working. */
export function ErrorBoundary({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const [error] = useErrorBoundary((failure: unknown) => reportError(failure))
  if (error === undefined) return <>{children}</>
  return (
    <div class="panel empty" role="alert">
      <p>This page cannot be shown.</p>
      <p class="small">{error instanceof Error ? `${error.name}: ${error.message}` : String(error)}</p>
      <p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    </div>
  )
}
