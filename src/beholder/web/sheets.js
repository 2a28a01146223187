// Style sheets that come together with others: the file that each is in, by its name. The server fills this in.

/** @type {{ [name: string]: string }} */
export const sheets = {};
