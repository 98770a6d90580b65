/** Values of the option `fastPath`. */
export type FastPath = boolean | 'uncompiled'

export const FAST_PATHS: readonly FastPath[] = [true, 'uncompiled', false]
