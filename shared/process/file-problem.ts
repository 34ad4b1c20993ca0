// Why a file that a person named cannot be used.

/** "does not exist", or "cannot be read: EACCES". */
export function fileProblem(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code ?? String(error)}`;
}
