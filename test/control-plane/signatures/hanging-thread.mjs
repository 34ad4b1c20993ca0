// A thread of the signer pool that does what its job's signer says: answers, hangs, throws, or dies.
export default function act({ signer }) {
  if (signer === 'hangs') for (;;);
  if (signer === 'dies') process.exit(1);
  if (signer === 'crashes') setImmediate(() => Promise.reject(new Error('crashed')));
  return signer === 'crashes' ? new Promise(() => undefined) : true;
}
