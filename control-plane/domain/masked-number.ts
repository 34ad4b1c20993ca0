// Phone numbers masked for operators.

/** "+1206…0188": the area, and enough digits to recognize a known number. Short codes and names are not masked. */
export const maskedNumber = (number: string): string =>
  /^\+?\d{7,}$/.test(number)
    ? `${number.slice(0, number.startsWith('+') ? 5 : 4)}…${number.slice(-4)}`
    : number;

/** A number of the service in a list: not masked while it has no subscriber. */
export const listedNumber = (number: string, isHeld: boolean): string =>
  isHeld ? maskedNumber(number) : number;

/** Masks each E.164 number in a text. */
export const withMaskedNumbers = (text: string): string =>
  text.replace(/(?<![\w+/])\+\d{7,15}/g, maskedNumber);
