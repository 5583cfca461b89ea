module example.test/stock

go 1.22
