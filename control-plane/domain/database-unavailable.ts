// The database cannot be reached now. Nothing is wrong with what was asked, and it may be asked again.

/**
 * Thrown by the store in place of what the driver says. `cause` has that. A statement that was under way may have been
 * carried out: nobody knows.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';

  constructor(cause: unknown) {
    super('the database is not available', { cause });
  }
}
