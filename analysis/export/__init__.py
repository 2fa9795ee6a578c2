"""Write what runs hold in the forms that others read: tidy tables, and the records of other projects."""
