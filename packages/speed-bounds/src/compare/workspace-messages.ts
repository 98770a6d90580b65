/** A program to run. With `shell`, a command line of the configuration. */
export interface WorkspaceCommand {
  readonly id: number
  readonly program: string
  readonly args: readonly string[]
  readonly shell: boolean
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** From the keeper: its folder or why there is none, then the end of each command with the last output. */
export type WorkspaceReport =
  | { readonly type: 'ready'; readonly folder: string }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'ended'; readonly id: number; readonly status: string | undefined; readonly output: string }
