cat <<-E | tr a b
	$(date)
	E
echo 'it is open; rm x
