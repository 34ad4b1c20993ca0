// The database cannot be reached now. The request itself is valid and may be repeated.

/**
 * The store throws it instead of the driver's error, which is in `cause`. A statement that was under way may or may not have been executed.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';

  constructor(cause: unknown) {
    super('the database is not available', { cause });
  }
}
